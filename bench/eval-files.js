// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const AGENT = "local.bench.golden";

/** @param {number} i */
const question = (i) => `What is ${i} plus ${i}?`;
/** @param {number} i */
const answer = (i) => `The answer is ${2 * i}.`;

/**
 * A suite of golden tasks and an agent that answers them from memory, as both programs take them.
 * @param {string} folder
 * @param {number} count
 */
export function writeEvalFiles(folder, count) {
  mkdirSync(folder, { recursive: true });
  const numbers = Array.from({ length: count }, (_, i) => i);
  const tasks = numbers.map((i) => ({
    taskId: `task-${i}`,
    input: { question: question(i) },
    expected: { kind: "golden", match: { strategy: "exact", value: answer(i) } },
  }));
  const suite = { suiteId: "bench.evals.golden", version: "1.0.0", modes: ["golden"], tasks };
  const byTaskId = Object.fromEntries(numbers.map((i) => [`task-${i}`, { output: answer(i) }]));
  write(folder, "suite.json", suite);
  write(folder, "agents.json", { bindings: { [AGENT]: { type: "scripted", script: { byTaskId } } } });
  write(folder, "promptfoo.json", {
    prompts: ["{{question}}"],
    providers: [`file://${join(folder, "provider.mjs")}`],
    tests: numbers.map((i) => ({ vars: { question: question(i) }, assert: [{ type: "equals", value: answer(i) }] })),
  });
  writeFileSync(
    join(folder, "provider.mjs"),
    `export default class {
  id() { return "bench"; }
  async callApi(prompt) { return { output: "The answer is " + 2 * Number(/\\d+/.exec(prompt)[0]) + "." }; }
}
`,
  );
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {object} value
 */
function write(folder, name, value) {
  writeFileSync(join(folder, name), JSON.stringify(value));
}
