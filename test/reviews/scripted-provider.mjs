// A provider's command that does what a script says, one entry per call, the last one for all further calls. Each call is written down first.
import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";

const [log, script, ...flags] = process.argv.slice(2);
const text = readFileSync(0, "utf8");
const calls = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
const request = JSON.parse(text);
const env = Object.keys(process.env).filter((name) => name.startsWith("ASSAY_"));
const call = { pid: process.pid, flags, cwd: process.cwd(), pwd: process.env.PWD, text, env };
appendFileSync(log, `${JSON.stringify(call)}\n`);

const entries = JSON.parse(readFileSync(script, "utf8"));
const entry = entries[Math.min(calls, entries.length - 1)];
const { remarks = [], ack = "acknowledged", hangs = false, exitCode = 0, stderr = "", error, session } = entry;
const named = flags.indexOf("--session");
const sessionID =
  session === undefined ? (named >= 0 ? flags[named + 1] : `ses_00000000000${calls % 10}AAAAAAAAAAAAAA`) : session;
const items = request.applied_feedback?.items.map(({ id }) => ({ id, processing_status: ack }));
const answer = {
  protocol_version: "1.2",
  iteration: request.iteration,
  ...(error === undefined
    ? {
        status: "success",
        feedback: {
          confidence: { level: "high", justification: "It is short." },
          positive_points: [],
          areas_for_improvement: remarks.map((id) => ({
            id,
            aspect: `About ${id}`,
            description: "It lacks.",
            recommendation: "Add it.",
          })),
          general_summary: "Seen.",
        },
      }
    : { status: "error", error: { code: error, message: "No." } }),
  ...(items === undefined ? {} : { applied_feedback_ack: { items } }),
};
const line = (type, part) =>
  `${JSON.stringify({ type, ...(sessionID === null ? {} : { sessionID }), part: { messageID: `msg_${calls}`, ...part } })}\n`;
if (stderr !== "") writeSync(2, stderr);
if (hangs) setInterval(() => {}, 1000);
else {
  if (exitCode === 0) {
    const spent = { reason: "stop", tokens: { total: 100 }, cost: 0.25 };
    writeSync(1, line("step_start", {}) + line("text", { text: JSON.stringify(answer) }) + line("step_finish", spent));
  }
  process.exitCode = exitCode;
}
