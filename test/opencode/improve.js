// @ts-check
// What `assay review loop` calls with each answer: decides by the aspect of a remark and hands over the next version, both as the file
// that it is called with says.
import { readFileSync } from "node:fs";

const { plans, decisions } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const { iteration, response } = JSON.parse(readFileSync(0, "utf8"));
/** @type {{ id: string, aspect: string }[]} */
const remarks = response.feedback.areas_for_improvement;
const decided = remarks.map(({ id, aspect }) => ({ id, ...decisions[aspect] }));
process.stdout.write(JSON.stringify({ decisions: decided, artifact: plans[iteration] }));
