import { matches, open, problemsOf, type Static, Type } from "../schema.ts";

const Tokens = Type.Integer({ minimum: 0 });
const Usage = Type.Object(
  { promptTokens: Type.Optional(Tokens), completionTokens: Type.Optional(Tokens), totalTokens: Type.Optional(Tokens) },
  open,
);
const Name = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));
const Delay = Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 }));

/** The mock that answers in place of a model, and its configured answers. */
const CONFIGS = {
  "stream-text": Type.Object(
    {
      tokens: Type.Optional(Type.Array(Type.String({ maxLength: 65_536 }), { maxItems: 10_000 })),
      delayMsPerToken: Delay,
      finishReason: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      usage: Type.Optional(Usage),
      model: Name,
    },
    open,
  ),
  error: Type.Object(
    {
      code: Type.String({ minLength: 1, maxLength: 128 }),
      message: Type.String({ maxLength: 4096 }),
      retryable: Type.Optional(Type.Boolean()),
      failAfterMs: Delay,
    },
    open,
  ),
  "usage-only": Type.Object({ usage: Usage, provider: Name, model: Name }, open),
} as const;

/** What a model would have answered, once; staged for a node. */
export const MockAnswer = Type.Object(
  {
    text: Type.Optional(Type.String({ maxLength: 1_000_000 })),
    content: Type.Optional(Type.String({ maxLength: 1_000_000 })),
    json: Type.Optional(Type.Unknown()),
    stopReason: Type.Optional(Type.String({ maxLength: 64 })),
    refusalText: Type.Optional(Type.String({ maxLength: 65_536 })),
    usage: Type.Optional(
      Type.Object({ inputTokens: Type.Optional(Tokens), outputTokens: Type.Optional(Tokens) }, open),
    ),
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

/** What a run asked for; it was checked when the run was made. */
export function mockProviderOf(configurable: Readonly<Record<string, unknown>> = {}): MockProvider | undefined {
  const wanted = configurable["mockProvider"] as Wanted | undefined;
  if (wanted === undefined || mockProviderProblem(wanted) !== undefined) return undefined;
  return { id: wanted.id, config: wanted.config ?? {} } as MockProvider;
}
