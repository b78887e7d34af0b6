import { visibleRun } from "../../engine/execute.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { identityOf } from "../../engine/runs/run-identity.ts";
import { importTape } from "../../engine/tapes/import-tape.ts";
import { pastRows, pullSidecar } from "../../engine/tapes/pull-sidecar.ts";
import { pushSidecar } from "../../engine/tapes/push-sidecar.ts";
import { storeBody } from "../../engine/tapes/store-body.ts";
import { listTapes, tapeDetails, visibleTape } from "../../engine/tapes/tape-info.ts";
import { tapeOfRun } from "../../engine/tapes/tape-of-run.ts";
import { AppError } from "../../protocol/errors.ts";
import type { TAPE_OPERATIONS } from "../../protocol/tapes/operations.ts";
import { TAPE_BODY } from "../../store/port/tapes.ts";
import { type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { created, createdOrFound, download, ok } from "../pipeline/reply.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

interface TapeDeps {
  readonly authorizer: Pick<Authorizer, "authorize">;
  readonly version: string;
}

export function tapeRoutes({ authorizer, version }: TapeDeps): HandlersOf<typeof TAPE_OPERATIONS> {
  return {
    importTape: (context) =>
      recordedReply(context, createdOrFound, (record) => {
        return importTape(context.host, { caller: context.caller, request: context.body, record });
      }),
    listTapes: async ({ host, caller, query }) => ok(await listTapes(host, caller, query)),
    getTape: async ({ host, caller, params }) => ok(await tapeDetails(host, caller, params.runId)),
    exportTape: async (context) => {
      const { host, caller, params } = context;
      const items = tapeOfRun(host, caller, await visibleRun(host, caller, params.runId), version);
      return sendList(context, { before: "", items, between: "\n", after: "\n", contentType: "application/x-ndjson" });
    },
    storeTapeBody: (context) =>
      recordedReply(context, created, (record) => {
        return storeBody(context.host, { caller: context.caller, run: context.run, request: context.body, record });
      }),
    getTapeBody: async ({ host, caller, params: { runId, hash } }) => {
      await visibleTape(host, caller, runId);
      const body = await host.store.readArtifact(caller, runId, hash);
      if (body?.artifactType !== TAPE_BODY) throw new AppError("not_found", { what: "body", runId, hash });
      return download(body);
    },
    pushSidecar: (context) =>
      recordedReply(context, ok, (record) => {
        const { host, caller, run, body: request } = context;
        const mayImport = () => authorizer.authorize(caller, "judgments:import");
        return pushSidecar(host, { caller, run: identityOf(run), request, mayImport, record });
      }),
    pullSidecar: async (context) => {
      const { host, caller, params } = context;
      const text = await pullSidecar(host, caller, identityOf(await visibleRun(host, caller, params.runId)));
      const contentType = "text/plain; charset=utf-8";
      return sendList(context, { before: "", items: pieces(text), between: "", after: "", contentType });
    },
    listPastRows: async (context) => {
      const { host, caller, params } = context;
      const rows = await pastRows(host, caller, identityOf(await visibleRun(host, caller, params.runId)));
      return sendList(context, { before: '{"rows":[', items: jsonPages(pagesOf(rows)), after: "]}" });
    },
  };
}

const PIECE_CHARACTERS = 1 << 18;

/** A file may be long; it is sent in pieces, as the client takes them. */
async function* pieces(text: string): AsyncGenerator<readonly string[]> {
  for (let start = 0; start < text.length; ) {
    // Never between two surrogates: halves cannot be encoded.
    const end = Math.min(text.length, start + PIECE_CHARACTERS);
    const cut = text.slice(start, end).isWellFormed() ? end : end - 1;
    yield [text.slice(start, cut)];
    start = cut;
  }
}
