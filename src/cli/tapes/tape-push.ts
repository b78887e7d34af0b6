import { sidecarUnreadable } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { fileLines, fileText, readRowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import type { PushSidecarResponse, RowChange } from "../../protocol/tapes/sidecar-api.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { PUSH_FLAGS } from "./commands/sync.ts";
import { sidecarText, syncedSidecar } from "./files/sync.ts";

export async function pushTape(call: Call<typeof PUSH_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const { client, path, runId, scrub } = await syncedSidecar(call);
  const text = await sidecarText(path);
  if (text === undefined) throw sidecarUnreadable(path, "there is no such file");
  const lines = fileLines(text);
  // Here and not only there: the server does not know what the file is called.
  const { rows } = readRowLines(path, lines);
  const clean = lines.map((line) => ({ ...line, text: scrub(line.text) }));
  const hidden = clean.filter((line, i) => line.text !== lines[i]?.text).length;
  const body = { sidecar: fileText(clean), dryRun: flags.dryRun, prune: flags.prune };
  const answer = await client(rows.length).tapes.pushSidecar(runId, body);
  const told = { ...answer, scrubbed: answer.scrubbed + hidden };
  if (json) io.out(JSON.stringify({ runId, file: path, ...told }));
  else tell(io, runId, told);
  if (!json && flags.prune && told.onlyHere > 0) io.err("--prune retracts only what you pushed yourself.");
}

function tell(io: Io, runId: string, answer: PushSidecarResponse): void {
  const { dryRun, onlyHere, scrubbed, withdrawn } = answer;
  for (const change of answer.changes) if (dryRun || change.what === "withdrawn") io.out(changeText(change));
  io.out(`${runId}: ${tallyText(answer)}`);
  if (scrubbed > 0) io.err(`${formatCount(scrubbed, "line")} held something secret, which was not sent.`);
  if (withdrawn > 0) io.err("What was retracted on the server stays so. `assay tape pull` takes it out of the file.");
  if (onlyHere > 0) {
    const count = formatCount(onlyHere, "annotation");
    io.err(`${count} only on the server: \`assay tape pull\` brings what the file lacks.`);
  }
}

const SIGNS = { recorded: "+", superseded: "~", withdrawn: "!", retracted: "-", only_here: "<" } as const;
const WORDS = {
  recorded: "new",
  superseded: "changed",
  withdrawn: "was retracted on the server",
  retracted: "to be retracted",
  only_here: "only on the server",
} as const;

function changeText({ line, id, what, annotationId = "" }: RowChange): string {
  const place = line === undefined ? annotationId : `line ${line}`;
  return `${SIGNS[what]} ${place}  ${id === "" ? "(no id)" : printable(id)}  ${WORDS[what]}`;
}

function tallyText({ recorded, superseded, unchanged, withdrawn, retracted, dryRun }: PushSidecarResponse): string {
  const would = dryRun ? "would be " : "";
  const rows = [
    `${formatCount(recorded, "row")} ${would}recorded`,
    `${superseded} ${would}changed`,
    `${unchanged} unchanged`,
    ...(withdrawn > 0 ? [`${withdrawn} retracted there before`] : []),
    ...(retracted > 0 ? [`${retracted} ${would}retracted`] : []),
  ];
  return rows.join(", ");
}
