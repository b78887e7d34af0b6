import { closed, type Static, Type } from "../../protocol/schema.ts";
import { FORMATS, PROVIDERS } from "../models/model-settings.ts";
import { Price } from "../models/prices.ts";

const text = Type.String({ minLength: 1, maxLength: 4096 });
const variable = Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$", maxLength: 256 });
/** Variables of programs: names to pass on, or a value for each name, `true` to pass it on. */
const passed = Type.Union([
  Type.Array(variable, { maxItems: 1_000 }),
  Type.Record(variable, Type.Union([Type.String(), Type.Literal(true)])),
]);
const ms = Type.Integer({ minimum: 1, maximum: 3_600_000 });
const bytes = Type.Integer({ minimum: 1, maximum: 2 ** 30 });

const limits = { timeoutMs: Type.Optional(ms), maxOutputBytes: Type.Optional(bytes) };
const retries = {
  attemptsMax: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  retryMs: Type.Optional(ms),
  retryMaxMs: Type.Optional(ms),
};

const MODEL_CLASSES = ["reasoning", "writing", "coding", "research", "classification", "general"] as const;

export const ModelEntry = Type.Object(
  {
    provider: Type.Enum([...PROVIDERS]),
    model: text,
    baseUrl: Type.Optional(text),
    apiKeyEnv: Type.Optional(variable),
    providerName: Type.Optional(Type.String({ pattern: "^[a-zA-Z0-9_-]{1,64}$" })),
    api: Type.Optional(Type.Enum(["chat", "responses"])),
    format: Type.Optional(Type.Enum([...FORMATS])),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
    seed: Type.Optional(Type.Integer()),
    options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    ...limits,
    ...retries,
  },
  closed,
);
export type ModelEntry = Static<typeof ModelEntry>;

/** The tenants whose runs may call the agent, or the tools of the server; without it `default`, the tenant of a host's first key. `*` is every tenant. */
const tenants = { tenants: Type.Optional(Type.Array(text, { minItems: 1, maxItems: 10_000 })) };

/** One schema for each type, so that a problem is reported for the type that the entry names. */
export const BINDINGS = {
  command: Type.Object(
    {
      type: Type.Literal("command"),
      program: text,
      args: Type.Optional(Type.Array(Type.String({ maxLength: 100_000 }), { maxItems: 1_000 })),
      directory: Type.Optional(text),
      killMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
      version: Type.Optional(text),
      env: Type.Optional(passed),
      ...tenants,
      ...limits,
    },
    closed,
  ),
  http: Type.Object(
    {
      type: Type.Literal("http"),
      url: text,
      apiKeyEnv: Type.Optional(variable),
      headersEnv: Type.Optional(Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]{1,128}$" }), variable)),
      allowPrivate: Type.Optional(Type.Boolean()),
      version: Type.Optional(text),
      ...tenants,
      ...limits,
      ...retries,
    },
    closed,
  ),
  scripted: Type.Object(
    { type: Type.Literal("scripted"), file: Type.Optional(text), script: Type.Optional(Type.Unknown()), ...tenants },
    closed,
  ),
  model: Type.Object(
    {
      type: Type.Literal("model"),
      model: text,
      maxTurns: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
      ...tenants,
    },
    closed,
  ),
} as const;
export type BindingType = keyof typeof BINDINGS;
export type BindingEntry = { [K in BindingType]: Static<(typeof BINDINGS)[K]> }[BindingType];

export const McpServer = Type.Object(
  {
    name: Type.String({ pattern: "^[a-z][a-z0-9_-]{0,63}$" }),
    command: Type.Optional(text),
    args: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })),
    env: Type.Optional(passed),
    url: Type.Optional(text),
    apiKeyEnv: Type.Optional(variable),
    ...tenants,
  },
  closed,
);
export type McpServer = Static<typeof McpServer>;
export const McpServers = Type.Array(McpServer, { maxItems: 100 });

/** Bindings are checked one by one, by their type. */
export const AgentsFileShape = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    models: Type.Optional(Type.Record(Type.String(), ModelEntry)),
    modelClasses: Type.Optional(
      Type.Object(Object.fromEntries(MODEL_CLASSES.map((name) => [name, Type.Optional(text)])), closed),
    ),
    bindings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    judge: Type.Optional(Type.Unknown()),
    prices: Type.Optional(Type.Record(Type.String(), Price)),
    tools: Type.Optional(Type.Object({ mcp: Type.Optional(McpServers) }, closed)),
  },
  closed,
);
export type AgentsFileShape = Static<typeof AgentsFileShape>;
