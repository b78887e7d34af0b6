import type { Host } from "../engine/host.ts";
import type { KeyHost } from "../engine/identity/keys.ts";
import type { EvalServices } from "../evals/run/eval-run.ts";
import type { Operation } from "../protocol/operation.ts";
import type { OperationId } from "../protocol/operations.ts";
import type { Room, Rooms } from "./in-process.ts";
import type { Handler } from "./pipeline/handler.ts";

/** The caller owns the database. */
const authorizer = { authorize: async () => {}, decide: async () => ({ allowed: true }) as const };

/** Handlers of several operations; each is called with requests of its own operation only. */
type Table = { readonly [Id in OperationId]?: unknown };

/** The calls of a noun; both tables are loaded when a call needs them. */
function room<H>(
  operations: () => Promise<Readonly<Partial<Record<OperationId, Operation>>>>,
  handlers: () => Promise<Table>,
): Room<H> {
  return {
    operation: async (id) => (await operations())[id],
    handler: async (id) => (await handlers())[id] as Handler<H> | undefined,
  };
}

/** The calls that evaluations and the calibration of judges make. */
export function evalRooms(services: EvalServices & { readonly version: string }): Rooms<Host> {
  const evals = room<Host>(
    async () => (await import("../protocol/evals/operations.ts")).EVAL_OPERATIONS,
    async () => (await import("./routes/evals.ts")).evalRoutes(authorizer, services),
  );
  return {
    evals,
    judges: evals,
    suites: room(
      async () => (await import("../protocol/evals/suite-operations.ts")).SUITE_OPERATIONS,
      async () => (await import("./routes/suites.ts")).suiteRoutes(authorizer, services),
    ),
    runs: {
      handler: async (id) => {
        const { version } = services;
        const routes: Table = (await import("./routes/runs.ts")).runRoutes({ authorizer, evals: services, version });
        return routes[id] as Handler | undefined;
      },
    },
    tapes: room(
      async () => (await import("../protocol/tapes/operations.ts")).TAPE_OPERATIONS,
      async () => (await import("./routes/tapes.ts")).tapeRoutes({ authorizer, version: services.version }),
    ),
  };
}

/** Keys, roles and principals. */
export const IDENTITY_ROOMS: Rooms<KeyHost> = {
  identity: room(
    async () => (await import("../protocol/identity/operations.ts")).IDENTITY_OPERATIONS,
    async () => (await import("./routes/identity.ts")).IDENTITY_ROUTES,
  ),
};
