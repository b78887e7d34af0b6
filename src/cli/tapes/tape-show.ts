import { blockLines, histories, type ShownRow, shownRow, summarize, summaryRow } from "../../formats/tapes/show.ts";
import { Chains } from "../../formats/tapes/sidecar/current-rows.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { addTo } from "../../formats/text/groups.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { SHOW_FLAGS } from "./commands/export.ts";
import { emit } from "./files/emit.ts";
import { type Review, readReview, reportProblems } from "./files/read-review.ts";
import { sidecarOf } from "./files/tape-paths.ts";
import { blockLook } from "./text/block-look.ts";
import { historyText } from "./text/history-text.ts";
import { reviewJson } from "./text/review-json.ts";
import { summaryText } from "./text/summary-text.ts";

type ShowCall = Call<typeof SHOW_FLAGS>;

export async function show(call: ShowCall): Promise<number> {
  const { args, flags, json, io } = call;
  const [tape = ""] = args;
  const files = { tape, sidecar: flags.annotations ?? sidecarOf(tape) };
  const view = json ? showJson : flags.summary || flags.history ? showViews : showBlock;
  const { problems } = await view(files, call);
  reportProblems(problems, io);
  return problems === 0 ? EXIT.fine : EXIT.invalid;
}

type Files = Parameters<typeof readReview>[0];

async function showBlock(files: Files, { io }: ShowCall): Promise<Review> {
  const rows = new Map<bigint, ShownRow[]>();
  const review = await readReview(files, io, (row) => addTo(rows, row.event_id, shownRow(row)));
  const block = { path: files.sidecar, ...review, rows };
  // Scripts compare the block byte for byte; only a person sees colours, and is kept from control characters.
  const lines = io.outIsTerminal ? blockLines(block, blockLook(io.paint)) : blockLines(block);
  await emit(ended(lines), undefined, io);
  return review;
}

async function showJson(files: Files, { io }: ShowCall): Promise<Review> {
  const { review, rows, chains } = await heldRows(files, io, (row) => row);
  const summary = summarize(rows, chains);
  await emit(reviewJson({ review, rows, summary, history: histories(rows, chains) }), undefined, io);
  return review;
}

async function showViews(files: Files, { flags, io }: ShowCall): Promise<Review> {
  const { review, rows, chains } = await heldRows(files, io, summaryRow);
  const sections = [
    ...(flags.summary ? [summaryText(review, summarize(rows, chains), io.paint)] : []),
    ...(flags.history ? [historyText(histories(rows, chains), io.paint)] : []),
  ];
  await emit([`${sections.join("\n\n")}\n`], undefined, io);
  return review;
}

async function heldRows<R>(files: Files, io: Io, held: (row: Row) => R) {
  const rows: R[] = [];
  const chains = new Chains();
  const review = await readReview(files, io, (row) => {
    chains.add(row);
    rows.push(held(row));
  });
  return { review, rows, chains };
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
