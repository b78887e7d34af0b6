// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tapeRecord } from "./tape-files.js";

export const MB = 2 ** 20;
export const AGENT_ID = "local.bench.hold.talker";
const ANSWER_BYTES = 4_000_000;

/** The text of a tape of about so many bytes; another one for each `salt`.
 * @param {number} bytes
 * @param {number} salt
 */
export function tape(bytes, salt) {
  const lines = [
    `{"type":"header","version":1,"harn_version":"0.8.6","started_at_unix_ms":1767225600000,"script_path":"nightly-${salt}.harn","argv":[]}`,
  ];
  for (let i = 0, size = 0; size < bytes; i++) {
    const line = JSON.stringify({ ...tapeRecord(i), monotonic_ms: i + salt });
    size += line.length + 1;
    lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}

/** The text of a tape with few records, each with a text of 2 MB.
 * @param {number} bytes
 * @param {number} salt
 */
export function tapeOfLongTexts(bytes, salt) {
  const [header] = tape(1, salt).split("\n", 1);
  const text = `answer ${salt}: some words, and more of them. `.repeat((2 * MB) / 44);
  const lines = Array.from({ length: bytes / (2 * MB) }, (_, i) => {
    const kind = { kind: "llm_call", request_digest: "0".repeat(64), response: { content_hash: "1".repeat(64), text } };
    return JSON.stringify({ ...tapeRecord(i), kind });
  });
  return `${[header, ...lines].join("\n")}\n`;
}

/** A request for a review of about so many bytes.
 * @param {string} kind `text`: one line; `lines`: many; `json`: many small values
 * @param {number} bytes
 * @param {number} salt
 */
export function review(kind, bytes, salt) {
  const words = `round ${salt}: a text to be reviewed, and more of it, `;
  const line = `${words}up to its end\n`;
  const content =
    kind === "text"
      ? words.repeat(bytes / words.length)
      : kind === "lines"
        ? line.repeat(bytes / (line.length + 1))
        : Array.from({ length: bytes / 60 }, (_, i) => ({ place: i, salt, word: "reviewed", done: true }));
  const media_type = kind === "json" ? "application/json" : "text/plain";
  return JSON.stringify({ protocol_version: "1.2", iteration: 1, artifact: { media_type, content } });
}

const PROGRAM = `
let task = "";
process.stdin.on("data", (some) => { task += some; });
process.stdin.on("end", () => {
  const row = (i) => ({ place: i, word: "answered", note: ("some words of the answer " + i + ", ").repeat(8), done: true });
  const rows = () => Array.from({ length: ${ANSWER_BYTES} / 300 }, (_, i) => row(i));
  const text = () => "some words of a long answer, and more of them. ".repeat(${ANSWER_BYTES} / 47);
  process.stdout.write(JSON.stringify(task.includes("json") ? rows() : text()));
});
`;

/** Writes a pack with one agent whose program prints 4 MB, and its agents file.
 * @param {string} folder
 */
export function installAgent(folder) {
  const packs = join(folder, "packs");
  const agents = join(folder, "agents.json");
  mkdirSync(join(packs, "hold"), { recursive: true });
  writeFileSync(join(folder, "talker.mjs"), PROGRAM);
  const agent = { agentId: AGENT_ID, persona: "Talker", modelClass: "general", systemPrompt: "Answer at length." };
  const pack = {
    name: "local.bench.hold",
    version: "1.0.0",
    engines: { openwop: ">=1.0 <2.0.0" },
    runtime: { language: "remote", entry: "agents" },
    agents: [agent],
  };
  writeFileSync(join(packs, "hold", "pack.json"), JSON.stringify(pack));
  const binding = { type: "command", program: "node", args: ["talker.mjs"], tenants: ["*"], maxOutputBytes: 8 * MB };
  writeFileSync(agents, JSON.stringify({ bindings: { [AGENT_ID]: binding } }));
  return { packs, agents };
}
