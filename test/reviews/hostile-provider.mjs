// A provider's command that does what no command should. The first argument says what, the second names a file for the numbers of processes.
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, writeSync } from "node:fs";

const [what, pids] = process.argv.slice(2);
const note = (pid) => appendFileSync(pids, `${pid}\n`);
const sessionID = "ses_000000000001AAAAAAAAAAAAAA";
const line = (type, part) => `${JSON.stringify({ type, sessionID, part: { messageID: "msg_1", ...part } })}\n`;
const writeAll = (data) => {
  const bytes = Buffer.from(data);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
};
/** Two lines, so that a limit of one is reached when all is in place. */
const ready = () => writeAll("\n\n");
const stay = () => setInterval(() => {}, 1000);
const answer = (summary) =>
  JSON.stringify({
    protocol_version: "1.2",
    iteration: 1,
    status: "success",
    feedback: {
      confidence: { level: "low", justification: "It is short." },
      positive_points: [],
      areas_for_improvement: [{ id: "say-what-01", aspect: "Aim", description: "None.", recommendation: "Say it." }],
      general_summary: summary,
    },
  });
const answered = (summary = "Fine.") =>
  line("step_start", {}) + line("text", { text: answer(summary) }) + line("step_finish", { reason: "stop" });

/** A process that has no wish to end. */
const fork = (detached = false) => {
  const source = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  const child = spawn(process.execPath, ["-e", source], { stdio: ["ignore", "inherit", "inherit"], detached });
  note(child.pid);
  return child;
};

note(process.pid);
const deeds = {
  endless: () => {
    for (;;) writeAll("x".repeat(1 << 16));
  },
  "endless lines": () => {
    const piece = line("text", { text: "more" }).repeat(500);
    for (;;) writeAll(piece);
  },
  "endless and deaf": () => {
    process.on("SIGTERM", () => {});
    const go = () => {
      writeAll("x".repeat(1 << 20));
      setImmediate(go);
    };
    go();
  },
  "no finish reason": () => {
    const go = () => {
      writeAll(line("step_start", {}) + line("step_finish", { reason: "unknown" }));
      setImmediate(go);
    };
    go();
  },
  "long line": () => writeAll(answered("é".repeat(15 * 1024 * 1024))),
  "longer line": () => {
    writeAll('{"type":"text","part":{"text":"');
    for (let i = 0; i < 80; i++) writeAll("x".repeat(1 << 20));
    writeAll('"}}\n');
  },
  "byte by byte": () => {
    for (const byte of Buffer.from(answered("Grüße, 世界 🌍"))) writeSync(1, Buffer.from([byte]));
  },
  "cut in a character": () => {
    const bytes = Buffer.from(answered("世界"));
    writeAll(bytes.subarray(0, bytes.indexOf(Buffer.from("世")) + 1));
  },
  deaf: () => {
    process.on("SIGTERM", () => {});
    ready();
    stay();
  },
  "answers and stays": () => {
    writeAll(answered());
    stay();
  },
  forks: () => {
    fork().once("spawn", ready);
    stay();
  },
  "forks out of its group": () => {
    fork(true).once("spawn", ready);
    stay();
  },
  "forks and ends": () => {
    fork().unref();
    writeAll(answered());
    process.exit(0);
  },
  "ends without reading": () => {
    process.stdin.destroy();
    writeAll(answered());
    process.exit(0);
  },
  "talks on stderr": () => {
    for (let i = 0; i < 64; i++) writeSync(2, "x".repeat(1 << 16));
    writeAll(answered());
    process.exit(0);
  },
  "talks on stderr for ever": () => {
    const go = () => {
      writeSync(2, "x".repeat(1 << 16));
      setImmediate(go);
    };
    go();
  },
  "closes its output and stays": () => {
    writeAll(answered());
    closeSync(1);
    stay();
  },
  "goes on after its answer": () => {
    writeAll(answered());
    const go = () => {
      writeAll(line("step_start", { messageID: "msg_2" }));
      setTimeout(go, 10);
    };
    go();
  },
  "is killed after its answer": () => {
    writeAll(answered());
    process.kill(process.pid, "SIGKILL");
  },
  deep: () => {
    const depth = 200_000;
    const text = answer("x").replace('"x"', `${"[".repeat(depth)}${"]".repeat(depth)}`);
    writeAll(line("step_start", {}) + line("text", { text }) + line("step_finish", { reason: "stop" }));
  },
  braces: () => {
    const text = `${"{".repeat(4 * 1024 * 1024)} ${" ".repeat(4 * 1024 * 1024)}.`;
    writeAll(line("step_start", {}) + line("text", { text }) + line("step_finish", { reason: "stop" }));
  },
};
deeds[what]();
