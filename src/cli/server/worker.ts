import { unusableInput } from "../../protocol/errors.ts";
import { packageVersion } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { agentServices } from "../wiring/agents.ts";
import { deliveryPart, startOtlp, workOn } from "../wiring/background.ts";
import { buildHost } from "../wiring/build-host.ts";
import { runUntilStopped } from "../wiring/shutdown.ts";
import { describeDatabase, openStore } from "./database.ts";

/** Executes runs, without a server. */
export async function worker(call: Call): Promise<number> {
  const { config, io, json } = call;
  if (config.databaseUrl === undefined) {
    throw unusableInput(
      "a separate worker needs --database-url: a SQLite file is used by one process, and `assay serve` has a worker",
    );
  }
  return runUntilStopped(call, async ({ log }, shutdown, scrubber) => {
    const store = await openStore(config);
    shutdown.add("store", () => store.close());
    const services = agentServices(store, config, scrubber);
    shutdown.add("tools", () => services.tools.close());
    const host = await buildHost(store, config, scrubber, services);
    deliveryPart(host, config, log, shutdown).start("");
    workOn(host, config, log, shutdown);
    startOtlp(host, config, log, shutdown);
    const database = describeDatabase(config);
    const version = packageVersion();
    io.out(json ? JSON.stringify({ database, pid: process.pid, version }) : `Working on ${database}`);
    log.info({ database, version }, "working");
  });
}
