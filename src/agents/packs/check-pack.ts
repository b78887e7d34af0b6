import satisfies from "semver/functions/satisfies.js";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { type AgentManifest, PackManifest } from "../../protocol/agents/agent-manifest.ts";
import { defined } from "../../protocol/defined.ts";
import { PROTOCOL_VERSION } from "../../protocol/discovery.ts";
import { validationError } from "../../protocol/errors.ts";
import { matches, problemsOf } from "../../protocol/schema.ts";
import type { Documents, DocumentWrite } from "../../store/port/documents.ts";
import type { InstalledAgent } from "../agents.ts";
import { MANIFEST_FILE, type PackFiles } from "./pack-files.ts";
import { jsonOf, PackInspection } from "./pack-inspection.ts";
import { packHash } from "./signature.ts";

/** A pack with everything that its agents refer to. */
export interface Pack {
  readonly name: string;
  readonly version: string;
  /** The hash of its files, without the signature. */
  readonly sha256: string;
  readonly agents: readonly InstalledAgent[];
  readonly suites: readonly PackSuite[];
  /** Capabilities that a host must have for the pack to be installed. */
  readonly needs: readonly string[];
}

export interface PackProblem {
  readonly file: string;
  /** JSON Pointer into the file; empty for all of it. */
  readonly path: string;
  readonly problem: string;
}

export type CheckedPack =
  | { readonly ok: true; readonly pack: Pack }
  | { readonly ok: false; readonly problems: readonly PackProblem[] };

/** Checks the whole pack, also after an error. */
export function checkPack(files: PackFiles, suites: PackSuites, scrubber: Scrubber): CheckedPack {
  const inspection = new PackInspection(files, suites, scrubber);
  const raw = jsonOf(files.get(MANIFEST_FILE));
  if ("problem" in raw) return { ok: false, problems: [{ file: MANIFEST_FILE, path: "", problem: raw.problem }] };
  inspection.forSecrets(MANIFEST_FILE, raw.value);
  if (!matches(PackManifest, raw.value)) {
    for (const { path, problem } of problemsOf(PackManifest, raw.value, 1000))
      inspection.say(MANIFEST_FILE, path, problem);
  }
  const manifest = raw.value as Partial<PackManifest> | null;
  checkOffer(manifest, inspection);
  const found = agentsIn(manifest).map((agent, i) => resolved(agent, `/agents/${i}`, manifest, inspection));
  if (inspection.problems.length > 0) return { ok: false, problems: inspection.problems };
  const whole = raw.value as PackManifest;
  return {
    ok: true,
    pack: {
      name: whole.name,
      version: whole.version,
      sha256: packHash(files),
      agents: found,
      suites: [...inspection.suites.values()],
      needs: peersOf(whole, false),
    },
  };
}

/** Returns the pack, or fails the request. */
export function requirePack(checked: CheckedPack): Pack {
  if (checked.ok) return checked.pack;
  const [first] = checked.problems;
  const more = checked.problems.length > 1 ? `, and ${checked.problems.length - 1} more` : "";
  const problem = `${first === undefined ? "the pack is not valid" : problemText(first)}${more}`;
  throw validationError(problem, { problems: checked.problems });
}

export function problemText({ file, path, problem }: PackProblem): string {
  return `${file}${path === "" ? "" : ` ${path}`} ${problem}`;
}

/** A longer range would take long to compare. */
const RANGE_CHARACTERS = 256;

/** Reports features of the published format that this host does not support: none is ignored silently. */
function checkOffer(manifest: Partial<PackManifest> | null, inspection: PackInspection): void {
  const say = (path: string, problem: string) => inspection.say(MANIFEST_FILE, path, problem);
  if (Array.isArray(manifest?.nodes) && manifest.nodes.length > 0) {
    say("/nodes", "must be empty: this host takes packs of agents only");
  }
  if (Object.keys(manifest?.dependencies ?? {}).length > 0) {
    say("/dependencies", "must be empty: this host installs packs one by one and looks for no others");
  }
  const range = manifest?.engines?.openwop;
  const isSpoken = (text: string) => text.length <= RANGE_CHARACTERS && satisfies(`${PROTOCOL_VERSION}.0`, text);
  if (typeof range === "string" && !isSpoken(range)) {
    say("/engines/openwop", `must be a range that includes ${PROTOCOL_VERSION}, which this host speaks`);
  }
  for (const [i, agent] of agentsIn(manifest).entries()) {
    // A prompt override for the system prompt counts only where there is no system prompt, and there always is one.
    for (const kind of Object.keys(agent?.promptOverrides ?? {}).filter((one) => one !== "system")) {
      say(`/agents/${i}/promptOverrides/${kind}`, "cannot be used: this host has no library of prompts");
    }
  }
  const ids = agentsIn(manifest).map((agent) => agent?.agentId);
  for (const [i, id] of ids.entries()) {
    if (id !== undefined && ids.indexOf(id) < i) say(`/agents/${i}/agentId`, "is the id of another agent in this pack");
  }
}

function agentsIn(manifest: Partial<PackManifest> | null): AgentManifest[] {
  return Array.isArray(manifest?.agents) ? manifest.agents : [];
}

/** References are read at installation: a pack that cannot be used is not installed. */
function resolved(
  agent: Partial<AgentManifest> | null,
  path: string,
  manifest: Partial<PackManifest> | null,
  inspection: PackInspection,
): InstalledAgent {
  const { systemPrompt, systemPromptRef, evalSuiteRef, handoff = {} } = agent ?? {};
  if ((systemPrompt === undefined) === (systemPromptRef === undefined)) {
    inspection.say(MANIFEST_FILE, path, 'must have exactly one of "systemPrompt", "systemPromptRef"');
  }
  for (const [i, name] of (Array.isArray(agent?.toolAllowlist) ? agent.toolAllowlist : []).entries()) {
    if (typeof name === "string" && !TOOL.test(name)) {
      inspection.say(MANIFEST_FILE, `${path}/toolAllowlist/${i}`, 'must be "<scope>:<tool-id>", like mcp:search');
    }
  }
  const prompt = systemPrompt ?? inspection.text(`${path}/systemPromptRef`, systemPromptRef);
  const taskSchema = inspection.schema(`${path}/handoff/taskSchemaRef`, handoff?.taskSchemaRef);
  const returnSchema = inspection.schema(`${path}/handoff/returnSchemaRef`, handoff?.returnSchemaRef);
  const suite = inspection.suite(`${path}/evalSuiteRef`, evalSuiteRef);
  const needs = [...new Set([...(agent?.requiresCapabilities ?? []), ...peersOf(manifest, true)])];
  const { agentId, persona, modelClass, label, description, memoryShape, confidence } = (agent ?? {}) as AgentManifest;
  const threshold = confidence?.defaultThreshold;
  const found: Omit<InstalledAgent, "contentHash"> = {
    agentId,
    version: manifest?.version ?? "",
    packName: manifest?.name ?? "",
    persona,
    ...defined({ label, description }),
    modelClass,
    systemPrompt: prompt ?? "",
    toolAllowlist: agent?.toolAllowlist ?? [],
    ...defined({ taskSchema, returnSchema, memoryShape, confidenceThreshold: threshold }),
    ...(needs.length === 0 ? {} : { requiresCapabilities: needs }),
    ...defined({ evalSuiteRef: suite }),
  };
  return { ...found, contentHash: inspection.problems.length > 0 ? "" : sha256(canonicalJson(found)) };
}

const TOOL = /^[a-zA-Z][a-zA-Z0-9_.-]*:\S+$/;

/** The pack's requirements of its host: the required ones, or the optional ones. */
function peersOf(manifest: Partial<PackManifest> | null, optional: boolean): string[] {
  const meta = manifest?.peerDependenciesMeta ?? {};
  return Object.keys(manifest?.peerDependencies ?? {}).filter((key) => (meta[key]?.optional === true) === optional);
}
/** Reads and stores the eval suites of packs. */
export interface PackSuites {
  read(bytes: Uint8Array): ReadSuite;
}

export type ReadSuite =
  | { readonly ok: true; readonly suite: PackSuite }
  /** Problems, each with its place in the file. */
  | { readonly ok: false; readonly problems: readonly string[] };

export interface PackSuite {
  /** `id@version`. */
  readonly ref: string;
  readonly sha256: string;
  /**
   * The writes that store a suite for a tenant, or the host; none where it is stored already. Throws `suite_conflict` where
   * another suite has its name.
   */
  writes(
    store: Documents,
    by: { readonly tenant: string; readonly principal: string },
    atMs: number,
  ): Promise<DocumentWrite[]>;
}
