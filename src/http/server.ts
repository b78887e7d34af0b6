import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { MAX_TOKEN_LENGTH } from "../engine/gates/interrupt-token.ts";
import { VERSION_HEADER } from "../protocol/discovery.ts";
import { AppError } from "../protocol/errors.ts";
import { errorWhenOff, type Operation } from "../protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../protocol/operations.ts";
import { ArrivalRoom, BodyRoom } from "./pipeline/body-room.ts";
import { clientError, endConnections, refuseSocket } from "./pipeline/connections.ts";
import type { HttpDeps, HttpSettings } from "./pipeline/deps.ts";
import type { Handler } from "./pipeline/handler.ts";
import { KeyWatch } from "./pipeline/key-watch.ts";
import { type PipelineDeps, pipeline, type RouteHook } from "./pipeline/pipeline.ts";
import { rateLimit } from "./pipeline/rate-limit.ts";
import { fastifyPattern } from "./pipeline/read-url.ts";
import type { Written } from "./pipeline/reply.ts";
import { errorReply, internalError, isForClient } from "./pipeline/reply.ts";
import { pathOf, requestIdOf } from "./pipeline/request-log.ts";
import { boundedServer } from "./pipeline/request-queue.ts";
import { ambiguityOf, unknownToken, unrouted, versionRefusal } from "./pipeline/request-refusals.ts";
import { type Sending, send } from "./pipeline/send.ts";
import { packRoom, reviewRoom, TapeRoom, tapeBytesFor } from "./pipeline/tape-room.ts";
import { metricsRoute, processSamples, RouteStats } from "./routes/metrics.ts";
import { BODY_DETAILS, handlers } from "./routes/routes.ts";
import { type SystemRoute, systemRoutes } from "./routes/system.ts";

/** No name in a path is longer than a token. */
const MAX_PARAM_LENGTH = MAX_TOKEN_LENGTH;

/**
 * The HTTP side of a host, not yet listening. Fastify routes and holds the sockets. Everything else happens in each
 * route's `onRequest` hook, which responds and never calls on: Fastify would otherwise check the body before the caller is
 * authenticated. `close()` lets requests under way finish, up to `shutdownGraceMs`.
 */
export function buildServer(deps: HttpDeps): FastifyInstance {
  const { host, events, log } = deps;
  const settings = { ...deps.settings, maxTapeBytes: tapeBytesFor(deps.settings.maxTapeBytes) };
  const newRequestId = () => host.newId("req");
  const app = fastify({
    logger: false,
    // Responses during shutdown have the envelope too.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    genReqId: (request) => requestIdOf(request, newRequestId, host.scrubber),
    serverFactory: newServer,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: () => NO_QUERY },
    frameworkErrors: (error, request, reply) => {
      const tooLong = error.code === "FST_ERR_MAX_PARAM_LENGTH";
      const malformed = () => new AppError("validation_error", { problem: "the URL is malformed" });
      const answer = unknownToken(request.raw.url ?? "/") ?? (tooLong ? notFound() : malformed());
      answerWith(reply, request.id, errorReply(answer, host.scrubber));
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === "ECONNRESET") socket.destroy();
      else refuseSocket(socket, clientError(error.code, settings.maxHeaderBytes), newRequestId());
    },
  });

  const stats: RouteStats[] = [];
  const statsFor = (method: string, route: string) => {
    const made = new RouteStats(method, route);
    stats.push(made);
    return made;
  };
  let closing = false;

  mountOperations();
  mountSystemRoutes();
  mountRest();
  closeGracefully();
  return app;

  /** Called once per address, because a host name may have several. */
  function newServer(begin: RequestListener): Server {
    const options = {
      maxHeaderSize: settings.maxHeaderBytes,
      // Node would answer without the envelope; see `ambiguityOf`.
      requireHostHeader: false,
      requestTimeout: settings.requestTimeoutMs,
      keepAliveTimeout: settings.idleConnectionMs,
      headersTimeout: Math.min(settings.headersTimeoutMs, settings.requestTimeoutMs),
      connectionsCheckingInterval: Math.max(100, Math.min(5000, settings.headersTimeoutMs / 2)),
    };
    const server = boundedServer(options, begin);
    server.maxConnections = settings.maxConnections;
    // Node would leave out the lines beyond a number of them, also a second Authorization; `ambiguityOf` refuses such a request.
    server.maxHeadersCount = 0;
    // Node's own responses to these two have no envelope. An unknown expectation may be ignored (RFC 9110, 10.1.1).
    server.on("checkExpectation", (request, response) => server.emit("request", request, response));
    server.on("connect", (_request, socket) => {
      const error = new AppError("validation_error", { problem: "CONNECT asks for a proxy, and this is none" });
      refuseSocket(socket as Socket, error, newRequestId());
    });
    return server;
  }

  function mountOperations(): void {
    const own = processSamples();
    const keyWatch = new KeyWatch({ ...deps, store: host.store });
    app.addHook("onClose", async () => {
      own.stop();
      keyWatch.close();
    });
    const samples = [own.read, () => deps.samples?.() ?? []];
    const { store } = host;
    const getMetrics = metricsRoute({ store, routes: stats, openStreams: () => events.openStreams(), samples });
    const handlerOf = handlers(deps, getMetrics);
    const limitRate = rateLimit(settings.rateLimit, host.nowMs);
    const pipelineDeps: PipelineDeps = {
      ...deps,
      settings,
      limitRate,
      keyWatch,
      tapeRoom: new TapeRoom(settings),
      reviewRoom: reviewRoom(settings),
      packRoom: packRoom(settings),
      bodyRoom: new BodyRoom(),
      arrivalRoom: new ArrivalRoom({ largestBytes: largestBody(settings) }),
    };
    for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
      const { method, path } = operation;
      const bodyDetails = BODY_DETAILS[id];
      const route = { operation, handler: handlerOf[id] as Handler, stats: statsFor(method, path) };
      mount(method, fastifyPattern(path), pipeline(pipelineDeps, { ...route, ...(bodyDetails && { bodyDetails }) }));
    }
  }

  function mountSystemRoutes(): void {
    const routes = systemRoutes({
      store: host.store,
      version: deps.version,
      consoleDir: deps.consoleDir,
      isClosing: () => closing,
      isAuditRefused: () => (host.checkpointer?.refused().size ?? 0) > 0,
    });
    for (const [path, route] of Object.entries(routes)) mount("GET", path, systemHook(route, statsFor("GET", path)));
  }

  function systemHook(route: SystemRoute, routeStats: RouteStats): RouteHook {
    return (request, reply) => {
      const startedMs = performance.now();
      const rest = (request.params as Readonly<Record<string, string>>)["*"] ?? "";
      const answer = async () =>
        (await route({ rest, ifNoneMatch: request.headers["if-none-match"] })) ?? refusal(missing(), request.id);
      void answer()
        .catch((error: unknown) => refusal(error, request.id))
        .then((written) => {
          send(reply.raw, written, { ...sendingOf(request.id), isPage: true });
          routeStats.observe(written.status, (performance.now() - startedMs) / 1000);
        });
    };
  }

  function mountRest(): void {
    const served = ({ capability }: Operation) =>
      capability === undefined || errorWhenOff(capability) !== "not_found" || host.capabilities.has(capability);
    const explain = unrouted(served, deps.consoleDir === undefined ? SYSTEM : [...SYSTEM, "/console"]);
    const unmatched = statsFor("*", "unmatched");
    // A hook, because Fastify would check the body of an unrouted request before its own not-found handler.
    app.addHook("onRequest", (request, reply, next) => {
      const problem = ambiguityOf(request.raw);
      const asked = request.headers[VERSION_HEADER];
      if (problem === undefined && asked === undefined && !request.is404) return next();
      const path = pathOf(request.raw.url ?? "/");
      const refused =
        problem === undefined ? versionRefusal(asked?.toString(), path) : new AppError("validation_error", { problem });
      if (refused === undefined && !request.is404) return next();
      const error = refused ?? explain(request.method, path);
      const answer = errorReply(error, host.scrubber);
      // The bytes after an ambiguous request may be a part of it.
      answerWith(reply, request.id, problem === undefined ? answer : { ...answer, headers: { connection: "close" } });
      unmatched.observe(error.status, 0);
    });
    app.setErrorHandler((error, request, reply) => answerWith(reply, request.id, refusal(error, request.id)));
  }

  function closeGracefully(): void {
    const leaving = new AppError("unavailable", { reason: "The host is shutting down" });
    const endAll = endConnections(app.server, (socket) => refuseSocket(socket, leaving, newRequestId()));
    app.addHook("preClose", async () => {
      closing = true;
      await events.close();
      endAll(settings.shutdownGraceMs);
    });
  }

  function mount(method: Operation["method"], url: string, onRequest: RouteHook): void {
    app.route({
      method: method === "GET" ? ["GET", "HEAD"] : method,
      url,
      onRequest: hookOf(onRequest),
      handler: never,
    });
  }

  function answerWith(reply: FastifyReply, requestId: string, written: Written): void {
    send(reply.raw, written, sendingOf(requestId));
  }

  function sendingOf(requestId: string): Sending {
    return { requestId, cacheControl: "no-store", discardBytes: settings.maxRequestBodyBytes };
  }

  function refusal(error: unknown, requestId: string): Written {
    if (isForClient(error)) return errorReply(error, host.scrubber);
    log.error({ requestId, err: error }, "unexpected error");
    return errorReply(internalError(requestId), host.scrubber);
  }
}

function largestBody({ maxRequestBodyBytes, maxTapeBytes, maxReviewBytes, maxPackBytes }: HttpSettings): number {
  return Math.max(maxRequestBodyBytes, maxTapeBytes, maxReviewBytes, maxPackBytes);
}

const NO_QUERY: Record<string, never> = {};
const SYSTEM = ["/", "/healthz", "/readyz"];

/** Fastify distinguishes hooks that call on from those that return a promise by their parameters; this one does neither. */
function hookOf(hook: RouteHook) {
  return (request: FastifyRequest, reply: FastifyReply, _next: () => void) => hook(request, reply);
}

function never(): never {
  throw new Error("the route's hook answers; its handler is never called");
}

function notFound(): AppError {
  return new AppError("not_found", { what: "resource" });
}

function missing(): AppError {
  return new AppError("not_found", { what: "page" });
}
