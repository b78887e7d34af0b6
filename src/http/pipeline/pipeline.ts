import type { FastifyReply, FastifyRequest } from "fastify";
import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { noteDenial } from "../../engine/identity/roles.ts";
import { runIdentity } from "../../engine/runs/run-identity.ts";
import { roomOf } from "../../engine/worker/run-room.ts";
import { AppError, type ErrorDetails } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Scope } from "../../protocol/identity/scopes.ts";
import { errorWhenOff, type Operation } from "../../protocol/operation.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { parse, type TSchema } from "../../protocol/schema.ts";
import type { RouteStats } from "../routes/metrics.ts";
import type { ArrivalRoom, BodyRoom } from "./body-room.ts";
import type { HttpDeps, HttpSettings } from "./deps.ts";
import type { Handler } from "./handler.ts";
import { keyedRequest, oncePerKey } from "./idempotency.ts";
import { admitAgain, type KeyWatch } from "./key-watch.ts";
import type { RateLimit } from "./rate-limit.ts";
import {
  type Admit,
  type Body,
  ClientGone,
  readArchiveBody,
  readBody,
  readRawBody,
  readTextBody,
} from "./read-body.ts";
import { queryReader } from "./read-url.ts";
import { errorReply, internalError, isForClient, type Reply, type Written } from "./reply.ts";
import { Context } from "./request-context.ts";
import { logRequest } from "./request-log.ts";
import { RequestRoom, unlessLarge } from "./request-room.ts";
import { type Sending, send } from "./send.ts";
import type { TapeRoom } from "./tape-room.ts";

export interface PipelineDeps
  extends Pick<HttpDeps, "host" | "log" | "requestLog" | "settings" | "authenticator" | "authorizer"> {
  readonly limitRate: RateLimit | undefined;
  readonly keyWatch: Pick<KeyWatch, "watch">;
  readonly tapeRoom: TapeRoom;
  readonly reviewRoom: TapeRoom;
  readonly packRoom: TapeRoom;
  readonly bodyRoom: BodyRoom;
  readonly arrivalRoom: ArrivalRoom;
}

export interface Route {
  readonly operation: Operation;
  readonly handler: Handler;
  readonly stats: RouteStats;
  /** Details of every refusal of the body. */
  readonly bodyDetails?: ErrorDetails;
}

export type RouteHook = (request: FastifyRequest, reply: FastifyReply) => void;

const NO_SCOPE: readonly Operation["access"][] = ["public", "authenticated"];

const NO_BODY: Body = { value: {}, text: "" };

/**
 * All checks between the socket and a handler, in the order of the protocol: authentication (401), rate (429), whether the host serves the
 * route (404, 501), scope (403), whether the named run is visible (404), query and body (400). Key and scopes are checked once more when the
 * body has arrived. Whatever depends on the operation alone is computed here, once.
 */
export function pipeline(deps: PipelineDeps, { operation, handler, stats, bodyDetails }: Route): RouteHook {
  const {
    host,
    log,
    requestLog,
    settings,
    authenticator,
    authorizer,
    limitRate,
    keyWatch,
    tapeRoom,
    reviewRoom,
    packRoom,
    bodyRoom,
    arrivalRoom,
  } = deps;
  const { access, alsoNeeds, body, bodyAsRead: bodySchema = body, success } = operation;
  const scopes = [access, alsoNeeds].filter((one): one is Scope => one !== undefined && !NO_SCOPE.includes(one));
  const readQuery = operation.query === undefined ? undefined : queryReader(operation.query);
  const limits = {
    maxBytes: maxBytesOf(operation, settings),
    maxDepth: settings.maxJsonDepth,
    maxElements: settings.maxJsonElements,
  };
  // Responses to paths with parameters are per caller: never cached.
  const cacheControl = access === "public" && !operation.path.includes("{") ? "no-cache" : "no-store";
  const streams = success.contentType === "text/event-stream";
  const writesItself = operation.tag === "events";
  const looksUpRun =
    operation.looksUpRun !== false && namesRun(operation) && (bodySchema !== undefined || readQuery !== undefined);
  const refuseOff = refusalWhenOff(operation, host);
  const isMeant = verbTest(operation);
  const files = filesRoom();
  const takesBody = bodySchema !== undefined || files !== undefined || operation.takesText === true;

  return (request, reply) => {
    void answer(request, reply);
  };

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const startedMs = performance.now();
    const requestId = request.id;
    const sending: Sending = { requestId, cacheControl, discardBytes: limits.maxBytes };
    let caller: Caller | undefined;
    const room = new RequestRoom(roomOf(host));
    const finish = (status: number) => {
      const latencyMs = performance.now() - startedMs;
      stats.observe(status, latencyMs / 1000);
      if (caller === undefined) return;
      const { method, url } = request.raw;
      const route = operation.path;
      logRequest(requestLog ?? log, host.scrubber, {
        requestId,
        caller,
        scope: access,
        method: method ?? "",
        route,
        url: url ?? "",
        status,
        latencyMs,
      });
    };
    try {
      if (access !== "public") {
        caller = await authenticator.authenticate(request.headers.authorization);
        limitRate?.(caller.keyId);
        host.localWorker?.noteRequest(caller.tenant);
      }
      if (!isMeant(request.raw.url ?? "")) throw new AppError("not_found", { what: "route" });
      if (refuseOff !== undefined) throw refuseOff();
      if (caller !== undefined) for (const scope of scopes) await authorize(request, caller, scope);
      const act = () => run(request, reply, caller, room);
      const answered = await (files === undefined ? act() : files.during(request.raw, act));
      if (answered === "hijacked") {
        const { raw } = reply;
        room.releaseAfter(raw);
        const stop = watchKey(request, caller, () => raw.destroy());
        raw.once("close", () => finish(raw.statusCode)).once("close", stop);
        if (raw.destroyed) stop();
        return;
      }
      send(reply.raw, answered, sending);
      room.releaseAfter(reply.raw);
      finish(answered.status);
    } catch (error) {
      room.release();
      const answered = refusal(error, requestId);
      if (answered === undefined) return;
      // A handler that writes to the socket itself may fail halfway: then no other response can be sent.
      if (reply.raw.headersSent) reply.raw.destroy();
      else send(reply.raw, answered, sending);
      finish(answered.status);
    }
  }

  async function authorize(request: FastifyRequest, caller: Caller, needed: Scope): Promise<void> {
    try {
      await authorizer.authorize(caller, needed);
    } catch (error) {
      const { runId, nodeId } = request.params as Readonly<Record<string, string>>;
      if (error instanceof AppError && error.code === "forbidden" && runId !== undefined && nodeId !== undefined) {
        await noteDenial(host, caller, { runId, nodeId }, error.message);
      }
      throw error;
    }
  }

  /** The caller as of now. The body, and the wait for room, may have taken minutes: the key may be revoked, the roles changed. */
  async function admitAfterBody(request: FastifyRequest, caller: Caller, room: RequestRoom): Promise<Caller> {
    const { authorization } = request.headers;
    const noted = { authorize: (now: Caller, scope: Scope) => authorize(request, now, scope) };
    const now = await admitAgain({ authenticator, authorizer: noted }, { authorization, caller, scopes });
    // A stream is long: it takes room for its first read only, and must not keep it from others.
    return writesItself ? now : withRoom(now, room);
  }

  async function run(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | undefined,
    room: RequestRoom,
  ): Promise<Reply> {
    let release = () => {};
    try {
      return await runWithin(request, reply, caller, room, async (bytes) => {
        // Whole files have their own room.
        if (files === undefined || bytes <= settings.maxRequestBodyBytes)
          release = await bodyRoom.take(bytes, caller?.tenant);
      });
    } finally {
      release();
    }
  }

  async function runWithin(
    request: FastifyRequest,
    reply: FastifyReply,
    admitted: Caller | undefined,
    room: RequestRoom,
    admit: Admit,
  ): Promise<Reply> {
    const params = request.params as Readonly<Record<string, string>>;
    const reader = looksUpRun ? admitted && withRoom(admitted, room) : undefined;
    const lookUp = (as: Caller) => namedRun(as, params["runId"] ?? "");
    // A large run is read after the body: no room for runs is held while a body is sent or waits for the room of bodies.
    const early =
      reader && (bodySchema === undefined ? { found: await lookUp(reader) } : await unlessLarge(reader, lookUp));
    if (writesItself) room.release();
    // Where a token is the credential, it is checked before the body like any other credential.
    if (params["token"] !== undefined) host.tokens.read(params["token"]);
    const query = readQuery?.(request.raw.url ?? "");
    const body = takesBody ? await bodyOf(request, admit, admitted) : NO_BODY;
    const named = reader && (early ?? { found: await lookUp(reader) }).found;
    const caller = admitted && (await admitAfterBody(request, admitted, room));
    if (bodySchema !== undefined && operation.takesText !== true) checkBody(bodySchema, body.value, bodyDetails);
    if (streams && request.method === "HEAD") return { status: 200, raw: "", contentType: "text/event-stream" };
    if (writesItself) {
      reply.raw.setHeader("x-request-id", request.id);
      reply.raw.setHeader("x-content-type-options", "nosniff");
    }
    const keyed = caller && keyedRequest(operation, host, { headers: request.headers, caller, params, body, query });
    const watch = (refused: (error: AppError) => void) => watchKey(request, caller, refused);
    const report = (error: unknown) => void refusal(error, request.id);
    const context = new Context(host, request, reply, caller, params, named, query, body, keyed, watch, report, room);
    if (keyed === undefined) return handler(context);
    return oncePerKey(
      host,
      keyed,
      () => handler(context),
      () => context.recorded,
    );
  }

  function filesRoom(): TapeRoom | undefined {
    if (operation.takesTape === true) return tapeRoom;
    if (operation.takesPack === true) return packRoom;
    return operation.takesReview === true ? reviewRoom : undefined;
  }

  async function bodyOf({ raw }: FastifyRequest, admit: Admit, caller: Caller | undefined): Promise<Body> {
    const arrival = arrivalRoom.arrival(caller?.tenant);
    const within = { ...limits, hold: arrival.hold };
    try {
      if (operation.takesPack === true) return await readArchiveBody(raw, within, admit);
      // A review is long: it would keep its room from others while a model works.
      if (operation.takesReview === true) return await readRawBody(raw, within);
      if (operation.takesText === true) return await readTextBody(raw, within, admit);
      return await readBody(raw, within, admit);
    } finally {
      arrival.release();
    }
  }

  async function namedRun(caller: Caller, runId: string): Promise<Run | undefined> {
    if (operation.looksUpRun !== "identity") return visibleRun(host, caller, runId);
    await runIdentity(host, caller, runId);
    return undefined;
  }

  /** For long responses: calls `refused` when the caller's key would no longer be admitted to this route. */
  function watchKey(request: FastifyRequest, caller: Caller | undefined, refused: (error: AppError) => void) {
    if (caller === undefined || scopes.length === 0) return () => {};
    return keyWatch.watch({ authorization: request.headers.authorization, caller, scopes }, refused);
  }

  /** Undefined when the client has disconnected. */
  function refusal(error: unknown, requestId: string): Written | undefined {
    if (error instanceof ClientGone) return undefined;
    if (isForClient(error)) {
      if (error.status === 503) log.warn({ requestId, err: error }, "unavailable");
      return errorReply(error, host.scrubber);
    }
    log.error({ requestId, err: error }, "unexpected error");
    return errorReply(internalError(requestId), host.scrubber);
  }
}

function withRoom(caller: Caller, { beforeLargeRead }: RequestRoom): Caller {
  return { ...caller, beforeLargeRead };
}

function maxBytesOf({ takesTape, takesReview, takesPack }: Operation, settings: HttpSettings): number {
  if (takesPack === true) return settings.maxPackBytes;
  if (takesReview === true) return settings.maxReviewBytes;
  return takesTape === true ? settings.maxTapeBytes : settings.maxRequestBodyBytes;
}

function checkBody(schema: TSchema, value: unknown, more: ErrorDetails | undefined): void {
  try {
    parse(schema, value, "body");
  } catch (error) {
    if (more === undefined || !(error instanceof AppError)) throw error;
    throw new AppError(error.code, { ...error.details, ...more });
  }
}

/** Conformance routes accept ids of runs that do not exist; every other route that names a run is about one. */
function namesRun({ path, capability }: Operation): boolean {
  return path.includes("{runId}") && capability !== "conformanceSeams";
}

/**
 * Whether a path has the verb of the operation as it is written there. The router reads an escaped colon as a plain one, so that the
 * name `x:confirm` would be read as `x` with the verb `confirm`.
 */
function verbTest({ path }: Operation): (url: string) => boolean {
  const [verb] = /:[\w-]+$/.exec(path) ?? [];
  return verb === undefined ? () => true : (url) => url.split(/[?#]/, 1)[0]?.endsWith(verb) === true;
}

/** The refusal of every request while the capability of the operation is off. */
function refusalWhenOff({ capability }: Operation, host: Host): (() => AppError) | undefined {
  if (capability === undefined || host.capabilities.has(capability)) return undefined;
  const code = errorWhenOff(capability);
  return () => new AppError(code, code === "not_found" ? { what: "route" } : { capability });
}
