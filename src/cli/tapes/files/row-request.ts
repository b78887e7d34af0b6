import type { FreeForm, FreeMap } from "../../../formats/json/print-json.ts";
import { type HypothesisStatus, SUPERSEDES } from "../../../formats/tapes/sidecar/new-row.ts";
import type { AUTHOR_KINDS, Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { FlagValues } from "../../program/command.ts";
import type { TAPE_ANNOTATE_FLAGS } from "../commands/write.ts";
import { exactAssignments, exactJson, textArgument } from "./exact-argument.ts";

type Given = FlagValues<typeof TAPE_ANNOTATE_FLAGS>;

/** What `tape annotate` was told to write. What is undefined was not said; for a replacement it stays as it was. */
export interface RowRequest {
  readonly event: bigint | "last" | undefined;
  readonly kind: string | undefined;
  readonly supersedes: string | undefined;
  readonly id: string | undefined;
  readonly evidence: string | undefined;
  readonly fix: FreeForm | undefined;
  readonly span: { readonly start: bigint | undefined; readonly end: bigint } | undefined;
  readonly status: HypothesisStatus | undefined;
  readonly friction: string | undefined;
  readonly links: Row["links"];
  readonly metadata: FreeMap;
  readonly author: NonNullable<Row["author"]>;
}

export function rowRequest(given: Given, author: string | undefined): RowRequest {
  const { event, kind, supersedes, evidence, fix, span, id } = given;
  if (supersedes === undefined && event === undefined) refuse("name the event: --event SEQ, or --event last");
  if (supersedes === undefined && kind === undefined) refuse("say what it is: --kind note, for example");
  if (id === "") refuse("--id must not be empty; leave it out, and one is made");
  return {
    event: event === undefined || event === "last" ? event : eventNumber(event, "--event"),
    kind,
    supersedes,
    id,
    evidence: evidence === undefined ? undefined : textArgument(evidence, "--evidence"),
    fix: fix === undefined ? undefined : exactJson(fix, "--fix"),
    span: span === undefined ? undefined : spanOf(span),
    status: given.status as HypothesisStatus | undefined,
    friction: given.friction,
    links: given.link.map(linkOf),
    metadata: metadataOf(given.meta),
    author: {
      id: author ?? null,
      kind: (given.authorKind ?? "human") as (typeof AUTHOR_KINDS)[number],
      surface: given.surface ?? "cli",
    },
  };
}

const LARGEST = 2n ** 64n - 1n;

function eventNumber(text: string, flag: string): bigint {
  const number = /^[0-9]+$/.test(text) ? BigInt(text) : undefined;
  if (number !== undefined && number <= LARGEST) return number;
  return refuse(`${flag} ${text} must be the number of an event, as the tape has it in \`seq\``);
}

/** `END`, or `START:END`. */
function spanOf(text: string): RowRequest["span"] {
  const [first = "", second, more] = text.split(":");
  if (more !== undefined) refuse(`--span ${text} must look like END or START:END`);
  if (second === undefined) return { start: undefined, end: eventNumber(first, "--span") };
  return { start: eventNumber(first, "--span"), end: eventNumber(second, "--span") };
}

/** An address holds `=` too, but not before its colon. */
const LABELLED = /^([^=:]+)=(.*)$/s;

function linkOf(text: string): Row["links"][number] {
  const [, label = null, url = text] = LABELLED.exec(text) ?? [];
  if (URL.canParse(url)) return { label, url, reference: null };
  return refuse(`--link ${text} must be an address with its scheme, such as https://…, or LABEL=ADDRESS`);
}

function metadataOf(items: readonly string[]): FreeMap {
  const metadata = exactAssignments(items, "--meta");
  if (metadata.has(SUPERSEDES)) refuse(`--meta ${SUPERSEDES}=… is what --supersedes ID writes; use that`);
  return metadata;
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
