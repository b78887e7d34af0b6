import { visibleRun } from "../../engine/execute.ts";
import { identityOf, type RunIdentity } from "../../engine/runs/run-identity.ts";
import { pastRows, pullSidecar } from "../../engine/tapes/pull-sidecar.ts";
import { pushSidecar } from "../../engine/tapes/push-sidecar.ts";
import type { PushSidecarRequest, PushSidecarResponse } from "../../protocol/tapes/sidecar-api.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import { callerOf, type Handler, type Reply, type RequestContext, runOf } from "../pipeline/handler.ts";
import { sendList } from "../pipeline/send-list.ts";

export function pushSidecarRoute(authorizer: Pick<HttpDeps["authorizer"], "authorize">): Handler {
  return async (context) => {
    const reply = (json: PushSidecarResponse): Reply => ({ status: 200, json });
    const caller = callerOf(context);
    const push = {
      caller,
      run: identityOf(runOf(context)),
      request: context.body as PushSidecarRequest,
      mayImport: () => authorizer.authorize(caller, "judgments:import"),
      record: context.recorder(reply),
    };
    return reply(await pushSidecar(context.host, push));
  };
}

export const pullSidecarRoute: Handler = async (context) => {
  const text = await pullSidecar(context.host, callerOf(context), await namedRun(context));
  const contentType = "text/plain; charset=utf-8";
  return sendList(context, { before: "", items: pieces(text), between: "", after: "", contentType });
};

export const listPastRowsRoute: Handler = async (context) => {
  const rows = await pastRows(context.host, callerOf(context), await namedRun(context));
  async function* pages() {
    for (let i = 0; i < rows.length; i += PAGE_ROWS) {
      yield rows.slice(i, i + PAGE_ROWS).map((row) => JSON.stringify(row));
    }
  }
  return sendList(context, { before: '{"rows":[', items: pages(), after: "]}" });
};

async function namedRun(context: RequestContext): Promise<RunIdentity> {
  return identityOf(await visibleRun(context.host, callerOf(context), context.params["runId"] ?? ""));
}

const PAGE_ROWS = 200;
const PIECE_CHARACTERS = 1 << 18;

/** A file may be long; it is handed on in pieces, as the client takes them. */
async function* pieces(text: string): AsyncGenerator<readonly string[]> {
  for (let start = 0; start < text.length; ) {
    // Never through a pair of surrogates: halves cannot be encoded.
    const end = Math.min(text.length, start + PIECE_CHARACTERS);
    const cut = text.slice(start, end).isWellFormed() ? end : end - 1;
    yield [text.slice(start, cut)];
    start = cut;
  }
}
