import type { Binding } from "../agents/binding.ts";
import { COMMAND_DEFAULTS, commandBinding } from "../agents/bindings/command.ts";
import type { ToolGateway } from "../agents/gateway/tool-gateway.ts";
import { tempDir } from "./temp-dir.ts";

/**
 * A program that calls what its input says, `[{ tool, arguments }]`, by the tool gateway, and prints the answers. Each answer is what
 * the gateway gave; `list` in place of a call gives the names of the tools.
 */
export const CALLING = `
let text = ""; for await (const piece of process.stdin) text += piece;
const { ASSAY_TOOLS_URL: url, ASSAY_TOOLS_TOKEN: token } = process.env;
const headers = { authorization: "Bearer " + token };
const answers = [];
for (const call of JSON.parse(text)) {
  const sent = call === "list"
    ? await fetch(url + "/tools", { headers })
    : await fetch(url + "/call", { method: "POST", headers, body: JSON.stringify(call) });
  const { result, error, tools } = await sent.json();
  answers.push(tools ? tools.map(({ name }) => name) : error ? error.code : result);
}
console.log(JSON.stringify(answers));
`;

/** The program as an agent is bound. */
export function callingProgram(gateway: ToolGateway): Binding {
  return commandBinding(
    {
      ...COMMAND_DEFAULTS,
      program: process.execPath,
      args: ["--input-type=module", "--eval", CALLING],
      directory: tempDir(),
      killMs: 50,
    },
    { environment: { PATH: process.env["PATH"] }, scrubText: (text) => text, gateway },
  );
}
