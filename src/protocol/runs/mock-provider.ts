import { Count, Id, matches, open, problemsOf, ShortName, type Static, Type } from "../schema.ts";

const Usage = Type.Object(
  { promptTokens: Type.Optional(Count), completionTokens: Type.Optional(Count), totalTokens: Type.Optional(Count) },
  open,
);
const ModelName = Type.Optional(ShortName);
const Delay = Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 }));

/** The mock that answers in place of a model, and its configured answers. */
const CONFIGS = {
  "stream-text": Type.Object(
    {
      tokens: Type.Optional(Type.Array(Type.String({ maxLength: 65_536 }), { maxItems: 10_000 })),
      delayMsPerToken: Delay,
      finishReason: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      usage: Type.Optional(Usage),
      model: ModelName,
    },
    open,
  ),
  error: Type.Object(
    {
      code: Id,
      message: Type.String({ maxLength: 4096 }),
      retryable: Type.Optional(Type.Boolean()),
      failAfterMs: Delay,
    },
    open,
  ),
  "usage-only": Type.Object({ usage: Usage, provider: ModelName, model: ModelName }, open),
} as const;

/** One answer of a model, staged for a node. */
export const MockAnswer = Type.Object(
  {
    text: Type.Optional(Type.String({ maxLength: 1_000_000 })),
    content: Type.Optional(Type.String({ maxLength: 1_000_000 })),
    json: Type.Optional(Type.Unknown()),
    stopReason: Type.Optional(Type.String({ maxLength: 64 })),
    refusalText: Type.Optional(Type.String({ maxLength: 65_536 })),
    usage: Type.Optional(Type.Object({ inputTokens: Type.Optional(Count), outputTokens: Type.Optional(Count) }, open)),
  },
  open,
);
export type MockAnswer = Static<typeof MockAnswer>;

export const MOCK_PROVIDERS = Object.keys(CONFIGS) as readonly (keyof typeof CONFIGS)[];

export type MockProvider = {
  [Id in keyof typeof CONFIGS]: { readonly id: Id; readonly config: Static<(typeof CONFIGS)[Id]> };
}[keyof typeof CONFIGS];

interface Wanted {
  readonly id: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Undefined when there is such a provider and the configuration is valid for it. */
export function mockProviderProblem({ id, config = {} }: Wanted): string | undefined {
  const schema = Object.hasOwn(CONFIGS, id) ? CONFIGS[id as keyof typeof CONFIGS] : undefined;
  if (schema === undefined) return id;
  if (matches(schema, config)) return undefined;
  const [first] = problemsOf(schema, config);
  return `${id} with a config that ${first?.path ?? ""} ${first?.problem ?? "does not match"}`;
}

/** The mock provider of a run, checked when the run was made. */
export function mockProviderOf(configurable: Readonly<Record<string, unknown>> = {}): MockProvider | undefined {
  const wanted = configurable["mockProvider"] as Wanted | undefined;
  if (wanted === undefined || mockProviderProblem(wanted) !== undefined) return undefined;
  return { id: wanted.id, config: wanted.config ?? {} } as MockProvider;
}
