import { AppError } from "../../protocol/errors.ts";
import { JudgeInput, JudgeOutput } from "../../protocol/evals/judge-api.ts";
import type { Call } from "../program/command.ts";

const SCHEMAS: Readonly<Record<string, object>> = { input: JudgeInput, output: JudgeOutput };
const DRAFT = "https://json-schema.org/draft/2020-12/schema";

export async function judgeSchema({ args, io, json }: Call): Promise<undefined> {
  const [which = ""] = args;
  const schema = Object.hasOwn(SCHEMAS, which) ? SCHEMAS[which] : undefined;
  if (schema === undefined) throw new AppError("unusable_input", { problem: "name input or output" });
  const title = `What a judge ${which === "input" ? "is asked" : "answers"}`;
  io.out(JSON.stringify({ $schema: DRAFT, title, ...schema }, null, json ? undefined : 2));
}
