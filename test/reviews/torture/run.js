// @ts-check
// npm run torture:reviews -- --rounds 200 --seed 1
//
// Conversations between `assay review` and `assay review provide` in which one of them, or both, are killed at random moments.
// Exits 1 and keeps the folder of a conversation in which a turn was lost, sent again after its answer, or answered in two ways.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../../torture/random.js";
import { Talk } from "./talk.js";
import { verify } from "./verify.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "50" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    kills: { type: "string", default: "6" },
    "at-once": { type: "string", default: "2" },
  },
});

const root = mkdtempSync(join(tmpdir(), "assay-review-torture-"));
const random = new Random(Number(values.seed));
const kills = { requester: 0, provider: 0, both: 0 };
let begun = 0;
let wrong = 0;

console.log(`--seed ${values.seed} --rounds ${values.rounds} --kills ${values.kills}`);
await Promise.all(Array.from({ length: Number(values["at-once"]) }, holdSome));
console.log(`${begun} conversations, killed: ${JSON.stringify(kills)}, ${wrong} went wrong`);
if (wrong === 0) rmSync(root, { recursive: true });
process.exit(wrong === 0 ? 0 : 1);

async function holdSome() {
  while (begun < Number(values.rounds)) {
    const round = ++begun;
    const talk = new Talk(mkdtempSync(join(root, "talk-")), random.fork(), Number(values.kills));
    await talk.hold();
    for (const who of /** @type {const} */ (["requester", "provider", "both"])) kills[who] += talk.kills[who];
    const complaints = [...talk.complaints, ...verify(talk)];
    if (complaints.length === 0) rmSync(talk.folder, { recursive: true });
    else console.error(`round ${round}, ${talk.folder}:\n  ${complaints.join("\n  ")}`);
    wrong += complaints.length === 0 ? 0 : 1;
  }
}
