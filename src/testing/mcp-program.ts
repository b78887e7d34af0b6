import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const sdk = (path: string) => JSON.stringify(import.meta.resolve(`@modelcontextprotocol/sdk/${path}`));

/** Speaks the protocol on its standard streams, and notes down what happens to it. */
const SOURCE = `
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { Server } from ${sdk("server/index.js")};
import { StdioServerTransport } from ${sdk("server/stdio.js")};
import { CallToolRequestSchema, ListToolsRequestSchema } from ${sdk("types.js")};
const note = (line) => appendFileSync(process.argv[2], line + "\\n");
note("started " + process.pid + " " + (process.env.ASSAY_KEY ?? process.env.MODEL_KEY ?? "no key") + " " + process.env.COLOUR);
const inputSchema = { type: "object", properties: { text: { type: "string" } } };
const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: ["echo", "fail", "value", "flood", "hang", "die", "breed"].map((name) => ({ name, description: "does " + name, inputSchema })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }, { signal }) => {
  const text = (words, more) => ({ content: [{ type: "text", text: words }], ...more });
  if (name === "echo") return text("you said " + args.text);
  if (name === "fail") return text("it broke", { isError: true });
  if (name === "value") return { content: [], structuredContent: { n: 7 } };
  if (name === "flood") return text("x".repeat(400000));
  if (name === "die") process.exit(1);
  if (name === "breed") {
    const child = spawn("sleep", ["600"], { detached: true, stdio: "inherit" });
    note("bred " + child.pid);
    return text("done");
  }
  note("hanging");
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  note("told to stop");
  return text("late");
});
await server.connect(new StdioServerTransport());
`;

/** A real MCP server, as it stands in an agents file, and what it has noted down. */
export function mcpProgram() {
  const folder = mkdtempSync(join(tmpdir(), "mcp-"));
  const script = join(folder, "server.mjs");
  const notes = join(folder, "notes");
  writeFileSync(script, SOURCE);
  return {
    entry: { name: "box", command: process.execPath, args: [script, notes], env: { COLOUR: "blue" } },
    lines: (): string[] => (existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : []),
  };
}
