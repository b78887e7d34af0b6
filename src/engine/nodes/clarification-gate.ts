import { defined } from "../../protocol/defined.ts";
import { AUTH_REQUIRED } from "../../protocol/gates/interrupt.ts";
import { Questions } from "../../protocol/gates/interrupt-data.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import { registeredSchema } from "../schemas/decide/schema-limits.ts";
import type { NodeType } from "../worker/node-type.ts";
import { BRANCH_FIELDS, DEADLINE_FIELDS, inVain, ONLY_GATES, timeoutOf, unknownMember } from "./gate-config.ts";

const Config = Type.Object(
  {
    questions: Questions,
    contextType: Type.Optional(Type.String()),
    profile: Type.Optional(Type.Literal(AUTH_REQUIRED)),
    ...DEADLINE_FIELDS,
    ...BRANCH_FIELDS,
  },
  { additionalProperties: true },
);
type Config = Static<typeof Config>;

export const clarificationGate: NodeType = {
  kind: "pure",
  typeId: "core.clarificationGate",
  summary: "Asks questions and waits for the answers.",
  config: Config,
  asksPerson: () => true,
  check: (config, ports) => {
    const ids = new Set<string>();
    for (const { id, schema } of (config as Config).questions) {
      if (ids.has(id)) return `asks two questions with id "${id}"`;
      ids.add(id);
      if (schema !== undefined) registeredSchema(schema, `the schema of question "${id}"`);
    }
    return inVain(config, ONLY_GATES) ?? inVain(ports, ONLY_GATES) ?? unknownMember(config, Config);
  },
  execute: ({ config, interrupt }) => {
    const { questions, contextType, profile } = config as Config;
    const data = defined({ questions, contextType });
    const value = interrupt({ kind: "clarification", data, ...timeoutOf(config), ...defined({ profile }) });
    return { type: "completed", outputs: { ...(value as { answers: Record<string, unknown> }) } };
  },
};
