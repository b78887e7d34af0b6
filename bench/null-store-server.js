// @ts-check
// The ceiling: `assay serve` as it is, on a store that forgets. Commits and the look-up of the workflow resolve at
// once; everything else (routing, keys, validation, deciding, serialising, logging, the worker) is the real thing.
import { parseArgs } from "node:util";

const dist = new URL("../dist/", import.meta.url);
const { values } = parseArgs({
  options: {
    keys: { type: "string", default: "" },
    workflows: { type: "string", default: "" },
    "no-worker": { type: "boolean", default: false },
  },
});

const { authenticator } = await load("engine/authenticate.js");
const { authorizer } = await load("engine/roles.js");
const { seedKeys } = await load("engine/seed-keys.js");
const { eventRoutes } = await load("http/event-routes.js");
const { buildServer } = await load("http/server.js");
const { openSqliteStore } = await load("store/sqlite/sqlite-store.js");
const { defaultConfig } = await load("cli/config.js");
const { buildHost } = await load("cli/wiring/build-host.js");
const { httpSettings, streamSettings } = await load("cli/wiring/http-settings.js");
const { readKeyFile } = await load("cli/wiring/key-file.js");
const { listen } = await load("cli/wiring/listen.js");
const { processLog } = await load("cli/wiring/log.js");
const { Shutdown } = await load("cli/wiring/shutdown.js");
const { signerFor } = await load("cli/wiring/sign-audit.js");
const { workOn } = await load("cli/wiring/start-worker.js");
const { registerWorkflowFiles } = await load("cli/wiring/workflow-files.js");

const config = { ...defaultConfig(), port: 0 };
const real = await openSqliteStore({ path: ":memory:" });
const prepared = buildHost(real, config);
await registerWorkflowFiles(prepared, [values.workflows]);
await seedKeys(prepared, readKeyFile(values.keys));

/** @type {Map<string, Promise<unknown>>} */
const workflows = new Map();
const done = Promise.resolve({ ok: true });
const none = Promise.resolve(undefined);
const store = {
  ...real,
  commit: () => done,
  readWorkflow: (/** @type {string} */ tenant, /** @type {string} */ workflowId) => {
    const found = workflows.get(workflowId) ?? real.readWorkflow(tenant, workflowId);
    workflows.set(workflowId, found);
    return found;
  },
  nextWakeAtMs: () => none,
};

let host = buildHost(store, config);
const { log } = processLog(config.logLevel);
if (!values["no-worker"]) host = { ...host, hands: workOn(host, config, log, new Shutdown()) };
const app = buildServer({
  host,
  settings: httpSettings(config),
  log,
  version: "bench",
  authenticator: authenticator(host, { cacheMs: config.keyCacheMs }),
  authorizer: authorizer(host, { cacheMs: config.keyCacheMs }),
  audit: {
    verifier: await signerFor(real, config),
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  },
  events: eventRoutes(host, { settings: streamSettings(config), report: () => {} }),
});
console.log(JSON.stringify({ url: await listen(app, config) }));

/**
 * A URL as a value, so that the type checker does not look for a build that may not exist yet.
 * @param {string} path
 */
function load(path) {
  return import(new URL(path, dist).href);
}
