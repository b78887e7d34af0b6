/** What `@assay/sdk` exports. */
export { Call, LinesCall, PageCall, type WithResponse } from "./call.ts";
export type * from "./client.ts";
export { connect } from "./connect.ts";
export {
  AbortError,
  ApiError,
  AssayError,
  ConflictError,
  ConnectionError,
  type Failure,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnauthenticatedError,
} from "./errors.ts";
export { EventStream } from "./event-stream.ts";
export type { GateCalls, GateDecision, GateHandle, GateRequest } from "./gate-request.ts";
export type { Input } from "./input.ts";
export type { ClientResponse } from "./response.ts";
export type { CallOptions, CallOptionsWith, ClientSettings, StreamOptions } from "./settings.ts";
