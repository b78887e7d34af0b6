import type { Calls } from "../protocol/calls.ts";
import type { RunEventDoc } from "../protocol/events.ts";
import type { Operation } from "../protocol/operation.ts";
import type { OPERATIONS, OperationId } from "../protocol/operations.ts";
import type { Static, TSchema } from "../protocol/schema.ts";
import type { Call, LinesCall, PageCall } from "./call.ts";
import type { EventStream } from "./event-stream.ts";
import type { Input } from "./input.ts";
import type { CallOptions, CallOptionsWith, StreamOptions } from "./settings.ts";

/**
 * Every operation of the API by noun and verb, typed from the table of operations. The published declarations say the same, spelled
 * out: `npm run docs` makes them from the same table (http/documents/client-types.ts), and a test compares the two.
 */
export type Client = {
  readonly [Noun in keyof Calls]: { readonly [Verb in keyof Calls[Noun]]: MethodOf<Calls[Noun][Verb] & OperationId> };
};

type OperationOf<Id extends OperationId> = (typeof OPERATIONS)[Id];

type MethodOf<Id extends OperationId> = (
  ...args: [...PathOf<OperationOf<Id>["path"]>, ...InputOf<OperationOf<Id>>, options?: OptionsOf<OperationOf<Id>>]
) => AnswerOf<OperationOf<Id>>;

/** One text for each parameter of the path. */
type PathOf<Path extends string> = Path extends `${string}{${string}}${infer Rest}` ? [string, ...PathOf<Rest>] : [];

/** The body; of a request without one, the query. */
type InputOf<O extends Operation> = O extends { takesPack: true }
  ? [body: Uint8Array]
  : O extends { bytesOf: infer S extends TSchema }
    ? [body: Input<Static<S>> | string | Uint8Array]
    : O extends { body: infer S extends TSchema }
      ? OptionalWhenEmpty<Static<S>, Raw>
      : O extends { query: infer S extends TSchema }
        ? OptionalWhenEmpty<Static<S>, never>
        : [];

/** A body that is JSON already, as text or bytes, is sent as it is. */
type Raw = string | Uint8Array;

type OptionalWhenEmpty<T, More> = Record<never, never> extends T ? [input?: Input<T> | More] : [input: Input<T> | More];

type OptionsOf<O extends Operation> = O extends { success: { frames: unknown } }
  ? StreamOptions
  : O extends ({ body: TSchema } | { bytesOf: TSchema }) & { query: infer S extends TSchema }
    ? CallOptionsWith<Input<Static<S>>>
    : CallOptions;

type AnswerOf<O extends Operation> = O["success"] extends { frames: infer F }
  ? EventStream<FrameOf<F> | LogFrameOf<O["success"]>>
  : O["success"] extends { line: infer S extends TSchema }
    ? LinesCall<Static<S>>
    : O["success"] extends { content: infer S extends TSchema }
      ? Call<Static<S>>
      : O["success"] extends { contentType: `text/${string}` }
        ? Call<string>
        : O["success"] extends { contentType: string }
          ? Call<Blob>
          : O["success"] extends { schema: infer S extends TSchema }
            ? JsonOf<Static<S>, O>
            : Call<void>;

type JsonOf<T, O extends Operation> =
  IsPage<T> extends true
    ? PageCall<T & object, ItemOf<T>>
    : Call<T | (O extends { otherwise: { schema: infer S extends TSchema } } ? Static<S> : never)>;

type IsPage<T> = string extends keyof T ? false : "nextCursor" extends keyof T ? true : false;

/** Of a page: what its one list holds. */
type ItemOf<T> = { [K in keyof T]-?: T[K] extends readonly (infer I)[] ? I : never }[keyof T];

type FrameOf<F> = {
  [E in keyof F]: {
    event: E;
    data: F[E] extends { data: infer S extends TSchema } ? Static<S> : never;
    id: string | undefined;
  };
}[keyof F];

/** An event of a run's log, with the payload of its type. */
type LogFrameOf<S> = S extends { events: infer Events }
  ? { [E in keyof Events]: { event: E; data: EventOf<E, Events[E]>; id: string | undefined } }[keyof Events]
  : never;

type EventOf<Type, Row> = Row extends { payload: infer S extends TSchema }
  ? Omit<RunEventDoc, "type" | "payload"> & { type: Type; payload: Static<S> }
  : never;
