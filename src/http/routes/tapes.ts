import { visibleRun } from "../../engine/execute.ts";
import { importTape } from "../../engine/tapes/import-tape.ts";
import { storeBody } from "../../engine/tapes/store-body.ts";
import { listTapes, tapeDetails, visibleTape } from "../../engine/tapes/tape-info.ts";
import { tapeOfRun } from "../../engine/tapes/tape-of-run.ts";
import { AppError } from "../../protocol/errors.ts";
import type {
  ImportTapeRequest,
  ImportTapeResponse,
  StoreBodyRequest,
  TapeListQuery,
} from "../../protocol/tapes/api.ts";
import type { TAPE_OPERATIONS } from "../../protocol/tapes/operations.ts";
import { TAPE_BODY } from "../../store/port/tapes.ts";
import { callerOf, type Handler, type Reply, runOf } from "../pipeline/handler.ts";
import { sendList } from "../pipeline/send-list.ts";
import { downloaded } from "./artifacts.ts";

const importTapeRoute: Handler = async (context) => {
  const request = context.body as ImportTapeRequest;
  const record = context.recorder(imported);
  return imported(await importTape(context.host, { caller: callerOf(context), request, record }));
};

function imported(json: ImportTapeResponse): Reply {
  return { status: json.created ? 201 : 200, json };
}

const listTapesRoute: Handler = async (context) => {
  return { status: 200, json: await listTapes(context.host, callerOf(context), context.query as TapeListQuery) };
};

const getTapeRoute: Handler = async (context) => {
  const { runId = "" } = context.params;
  return { status: 200, json: await tapeDetails(context.host, callerOf(context), runId) };
};

function exportTapeRoute(version: string): Handler {
  return async (context) => {
    const { host, params } = context;
    const caller = callerOf(context);
    const run = await visibleRun(host, caller, params["runId"] ?? "");
    const items = tapeOfRun(host, caller, run, version);
    return sendList(context, { before: "", items, between: "\n", after: "\n", contentType: "application/x-ndjson" });
  };
}

const storeTapeBodyRoute: Handler = async (context) => {
  const request = context.body as StoreBodyRequest;
  const record = context.recorder(created);
  const command = { caller: callerOf(context), run: runOf(context), request, record };
  return created(await storeBody(context.host, command));
};

function created(json: unknown): Reply {
  return { status: 201, json };
}

const getTapeBodyRoute: Handler = async (context) => {
  const { host, params } = context;
  const { runId = "", hash = "" } = params;
  const caller = callerOf(context);
  await visibleTape(host, caller, runId);
  const body = await host.store.readArtifact(caller, runId, hash);
  if (body?.artifactType !== TAPE_BODY) throw new AppError("not_found", { what: "body", runId, hash });
  return downloaded(body);
};

export function tapeRoutes(version: string): Readonly<Record<keyof typeof TAPE_OPERATIONS, Handler>> {
  return {
    importTape: importTapeRoute,
    listTapes: listTapesRoute,
    getTape: getTapeRoute,
    exportTape: exportTapeRoute(version),
    storeTapeBody: storeTapeBodyRoute,
    getTapeBody: getTapeBodyRoute,
  };
}
