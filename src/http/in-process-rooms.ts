import type { Host } from "../engine/host.ts";
import type { KeyHost } from "../engine/identity/keys.ts";
import type { EvalServices } from "../evals/run/eval-run.ts";
import type { Operation } from "../protocol/operation.ts";
import type { OperationId } from "../protocol/operations.ts";
import type { Room, Rooms } from "./in-process.ts";
import type { Handler } from "./pipeline/handler.ts";

/** The caller owns the database. */
const authorizer = { authorize: async () => {}, decide: async () => ({ allowed: true }) as const };

type Load<T> = () => Promise<Readonly<Partial<Record<OperationId, T>>>>;

/** A noun in parts: those after the first are loaded when what is asked for is in none before them. */
function room<H>(operations: readonly Load<Operation>[], handlers: readonly Load<Handler<H>>[]): Room<H> {
  return { operation: (id) => firstIn(operations, id), handler: (id) => firstIn(handlers, id) };
}

async function firstIn<T>(parts: readonly Load<T>[], id: OperationId): Promise<T | undefined> {
  for (const load of parts) {
    const found = (await load())[id];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What evaluations and the calibration of judges ask of a host. */
export function evalRooms(services: EvalServices & { readonly version: string }): Rooms<Host> {
  return {
    evals: room(
      [async () => (await import("../protocol/evals/operations.ts")).EVAL_OPERATIONS],
      [async () => (await import("./routes/evals.ts")).evalRoutes(authorizer)],
    ),
    judges: room(
      [async () => (await import("../protocol/evals/judge-operations.ts")).JUDGE_OPERATIONS],
      [async () => (await import("./routes/judges.ts")).judgeRoutes(services)],
    ),
    suites: room(
      [
        async () => (await import("../protocol/evals/suite-operations.ts")).SUITE_OPERATIONS,
        async () => (await import("../protocol/evals/suite-growth-operations.ts")).SUITE_GROWTH_OPERATIONS,
      ],
      [
        async () => (await import("./routes/suites.ts")).SUITE_ROUTES,
        async () => (await import("./routes/suite-growth.ts")).suiteGrowthRoutes({ authorizer, evals: services }),
      ],
    ),
    runs: {
      handler: async (id) => {
        if (id === "createRun") return (await import("./routes/create-run.ts")).createRunRoute(authorizer, services);
        const { cancelRunRoute, getRunRoute } = await import("./routes/runs.ts");
        return id === "getRun" ? getRunRoute(authorizer) : id === "cancelRun" ? cancelRunRoute : undefined;
      },
    },
    tapes: room(
      [
        async () => (await import("../protocol/tapes/operations.ts")).TAPE_OPERATIONS,
        async () => (await import("../protocol/tapes/sidecar-operations.ts")).SIDECAR_OPERATIONS,
      ],
      [
        async () => (await import("./routes/tapes.ts")).tapeRoutes(services.version),
        async () => ({ pushSidecar: (await import("./routes/sidecars.ts")).pushSidecarRoute(authorizer) }),
      ],
    ),
  };
}

/** Keys, roles and principals. */
export const IDENTITY_ROOMS: Rooms<KeyHost> = {
  identity: room(
    [
      async () => (await import("../protocol/identity/key-operations.ts")).KEY_OPERATIONS,
      async () => (await import("../protocol/identity/role-operations.ts")).ROLE_OPERATIONS,
    ],
    [
      async () => {
        const { createKeyRoute, listKeysRoute, revokeKeyRoute, whoAmIRoute } = await import("./routes/keys.ts");
        return { whoAmI: whoAmIRoute, createKey: createKeyRoute, listKeys: listKeysRoute, revokeKey: revokeKeyRoute };
      },
      async () => {
        const roles = await import("./routes/roles.ts");
        return {
          listRoles: roles.listRolesRoute,
          defineRole: roles.defineRoleRoute,
          removeRole: roles.removeRoleRoute,
          listPrincipals: roles.listPrincipalsRoute,
          setPrincipal: roles.setPrincipalRoute,
          confirmPrincipal: roles.confirmPrincipalRoute,
        };
      },
    ],
  ),
};
