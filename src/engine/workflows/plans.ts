import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { Store, StoredWorkflow } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { sharedReads } from "../shared/short-cache.ts";
import { ByteRoom } from "../worker/run-room.ts";
import { makePlan, type Plan } from "./decide/plan.ts";

/** Plans by content hash, made once and cached. Definitions never change, so plans do not become stale. */
export interface Plans {
  /** The plan of a run that is started now. */
  current(tenant: string, workflowId: string): Promise<Plan | undefined>;
  /** The plan a run was started with. */
  byHash(hash: string): Promise<Plan>;
  /** The title of a definition for lists, without making a plan. */
  titleOf(hash: string): Promise<Title>;
}

export type Title = Pick<WorkflowDefinition, "id" | "name" | "version">;

export type PlanStore = Pick<Store, "readWorkflowHash" | "readWorkflowByHash">;

/** The bytes of cached plans, at most, for any heap: those of 64 million characters without structure. */
const KEPT_MAX = 128_000_000;
/** The part of the heap that kept plans may take. */
const KEPT_PER_HEAP = 8;

/** The bytes that unused plans may hold together. */
export function plansKept(heapBytes = getHeapStatistics().heap_size_limit): number {
  return Math.min(KEPT_MAX, Math.floor(heapBytes / KEPT_PER_HEAP));
}

/** A character of text takes one or two bytes. */
const BYTES_PER_CHARACTER = 2;
/** The bytes of an object, a list, a member, and of a node or an edge in the graph; measured on definitions of many shapes. */
const BYTES_PER_PART = 48;

/** An upper estimate of the bytes of a plan: a definition of many small parts takes twenty times its text. */
export function planBytes(definition: string): number {
  let parts = 0;
  for (let i = 0; i < definition.length; i++) {
    const code = definition.charCodeAt(i);
    // { [ , :
    if (code === 0x7b || code === 0x5b || code === 0x2c || code === 0x3a) parts += 1;
  }
  return definition.length * BYTES_PER_CHARACTER + parts * BYTES_PER_PART;
}

/** Plans of longer definitions are made one at a time, with other work in between: each takes tens of milliseconds. */
const LARGE_DEFINITION = 131_072;

const TITLES_MAX = 2000;

export function plansOf(store: PlanStore, bytesMax = plansKept()): Plans {
  const kept = new KeptPlans(bytesMax);
  const largeTurn = new ByteRoom(1);

  const read = async <T>(hash: string, use: Use<T>): Promise<T> => {
    const workflow = await store.readWorkflowByHash(hash);
    if (!workflow) throw new Error(`no workflow definition with hash ${hash}`);
    return use(workflow);
  };
  /** A large definition is dropped and read again in its turn, so that waiting requests hold none. */
  const readInTurn = async <T>(hash: string, use: Use<T>): Promise<T> => {
    const small = await read(hash, (one) =>
      one.definition.length > LARGE_DEFINITION ? undefined : { used: use(one) },
    );
    if (small !== undefined) return small.used;
    const done = await largeTurn.take(1);
    try {
      await nextTurn();
      return await read(hash, use);
    } finally {
      done();
    }
  };
  const make = ({ hash, definition }: StoredWorkflow): Plan => {
    const plan = makePlan(hash, JSON.parse(definition) as WorkflowDefinition);
    kept.put(plan, planBytes(definition));
    return plan;
  };

  const underWay = new Map<string, Promise<Plan>>();
  const load = (hash: string): Promise<Plan> => {
    const joined = underWay.get(hash);
    if (joined !== undefined) return joined;
    const loading = readInTurn(hash, make).finally(() => underWay.delete(hash));
    underWay.set(hash, loading);
    return loading;
  };
  const titles = new Map<string, Promise<Title>>();
  const loadTitle = (hash: string): Promise<Title> => {
    const loading = readInTurn(hash, titleIn);
    titles.set(hash, loading);
    loading.catch(() => titles.delete(hash));
    const [oldest] = titles.keys();
    if (titles.size > TITLES_MAX && oldest !== undefined) titles.delete(oldest);
    return loading;
  };

  const byHash = async (hash: string): Promise<Plan> => kept.get(hash) ?? load(hash);
  const currentHash = sharedReads((tenant: string, workflowId: string) => store.readWorkflowHash(tenant, workflowId));
  return {
    byHash,
    async current(tenant, workflowId) {
      const hash = await currentHash(tenant, workflowId);
      return hash === undefined ? undefined : byHash(hash);
    },
    titleOf: (hash) => titles.get(hash) ?? loadTitle(hash),
  };
}

type Use<T> = (workflow: StoredWorkflow) => T;

function titleIn({ definition }: StoredWorkflow): Title {
  const { id, name, version } = JSON.parse(definition) as WorkflowDefinition;
  return { id, name, version };
}

/** A cache of plans within a number of bytes. The least recently used plan is dropped first; a plan that is larger than the cache is kept alone. */
class KeptPlans {
  readonly #bytesMax: number;
  readonly #plans = new Map<string, { readonly plan: Plan; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(hash: string): Plan | undefined {
    const held = this.#plans.get(hash);
    if (held === undefined) return undefined;
    this.#plans.delete(hash);
    this.#plans.set(hash, held);
    return held.plan;
  }

  put(plan: Plan, bytes: number): void {
    this.#drop(plan.hash);
    this.#plans.set(plan.hash, { plan, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#plans.keys()) {
      if (this.#bytes <= this.#bytesMax || oldest === plan.hash) break;
      this.#drop(oldest);
    }
  }

  #drop(hash: string): void {
    this.#bytes -= this.#plans.get(hash)?.bytes ?? 0;
    this.#plans.delete(hash);
  }
}

/** The hash of a definition, the same for all texts of the same value. */
export function definitionHash(definition: unknown): string {
  return createHash("sha256").update(canonicalJson(definition)).digest("hex");
}

/** Workflows that a name is compared with for a suggestion. */
const COMPARED = 1000;

/** The error of a workflow that is not registered, with the most similar name. */
export async function unknownWorkflow(
  { store }: Pick<Host, "store">,
  { tenant }: Visibility,
  workflowId: string,
  field = "workflowId",
): Promise<AppError> {
  const known = (await store.listWorkflowHeads(tenant, "", COMPARED)).map((one) => one.workflowId);
  const nearest = closestTo(workflowId, known);
  const meant = nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
  const problem = `no workflow "${workflowId}" is registered${meant}; GET /v1/workflows lists the workflows`;
  return new AppError("validation_error", defined({ problem, field, workflowId, nearest }));
}
