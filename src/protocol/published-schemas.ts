import { EvalSummary } from "./evals/api.ts";
import { AgentEvalSuite } from "./evals/eval-suite.ts";
import { JudgeInput, JudgeOutput } from "./evals/judge-api.ts";
import { Annotation, CreateAnnotation } from "./judgments/annotation.ts";
import { AfpMessage, AfpRequest, AfpResponse } from "./reviews/afp.ts";
import { closed, type Static, type TSchema, Type } from "./schema.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

interface PublishedSchema {
  readonly title: string;
  readonly description: string;
  readonly schema: TSchema;
}

/** JSON Schemas of objects that other programs read or write. Served at `/v1/schemas`, printed by `assay schema`. */
const PUBLISHED = {
  annotation: {
    title: "Annotation",
    description: "A judgment on a run, one of its events or one of its nodes, as the protocol shows it.",
    schema: Annotation,
  },
  "annotation-create": {
    title: "AnnotationCreate",
    description: "The body that records an annotation. The host adds id, author, time and run.",
    schema: CreateAnnotation,
  },
  "eval-suite": {
    title: "AgentEvalSuite",
    description: "The tasks an agent is evaluated with, how they are scored, and the thresholds.",
    schema: AgentEvalSuite,
  },
  "eval-summary": {
    title: "EvalSummary",
    description: "The scorecard of an evaluation: figures only, no text of a task or an output.",
    schema: EvalSummary,
  },
  "afp-request": {
    title: "AfpRequest",
    description: "A request of the Agent Feedback Protocol 1.2: an artifact, and decisions on earlier remarks.",
    schema: AfpRequest,
  },
  "afp-response": {
    title: "AfpResponse",
    description: "A response of the Agent Feedback Protocol 1.2, as a provider has to write it.",
    schema: AfpResponse,
  },
  "afp-message": {
    title: "AfpMessage",
    description: "A line of the stream that carries a response of the Agent Feedback Protocol.",
    schema: AfpMessage,
  },
  "judge-input": {
    title: "JudgeInput",
    description: "The question that an evaluation asks a judge.",
    schema: JudgeInput,
  },
  "judge-output": {
    title: "JudgeOutput",
    description: "The answer of a judge.",
    schema: JudgeOutput,
  },
} as const satisfies Record<string, PublishedSchema>;

export type SchemaName = keyof typeof PUBLISHED;
export const SCHEMA_NAMES = Object.keys(PUBLISHED) as SchemaName[];

export const SCHEMAS_PATH = "/v1/schemas";

export function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(PUBLISHED, name);
}

/** A whole document: draft, id and words first, then the schema. */
export function schemaDocument(name: SchemaName): Readonly<Record<string, unknown>> {
  const { title, description, schema } = PUBLISHED[name];
  return { $schema: DRAFT, $id: `urn:assay:schema:${name}`, title, description, ...JSON.parse(JSON.stringify(schema)) };
}

export const SchemaIndex = Type.Object(
  {
    schemas: Type.Array(
      Type.Object(
        { name: Type.String(), title: Type.String(), description: Type.String(), url: Type.String() },
        closed,
      ),
    ),
  },
  closed,
);
export type SchemaIndex = Static<typeof SchemaIndex>;

export function schemaIndex(): SchemaIndex {
  const schemas = SCHEMA_NAMES.map((name) => {
    const { title, description } = PUBLISHED[name];
    return { name, title, description, url: `${SCHEMAS_PATH}/${name}` };
  });
  return { schemas };
}
