import { unifiedDiff } from "../../formats/text/unified-diff.ts";
import type { ReviewAsked } from "../reviewer.ts";
import { artifactText } from "./artifact-text.ts";

/** Longer texts are not compared: what a model is shown of them has to be short in any case. */
const COMPARED_CHARACTERS = 2_000_000;
const SHOWN_CHARACTERS = 20_000;
const LINE_CHARACTERS = 1_000;

/** How the artifact has changed since its last review, in the form for a model; undefined where that is unknown. */
export function changesIn({ request, session }: Pick<ReviewAsked, "request" | "session">): string | undefined {
  if (session.artifact === undefined) return undefined;
  const was = artifactText(session.artifact.content);
  const is = artifactText(request.artifact.content);
  if (was.length + is.length > COMPARED_CHARACTERS) return undefined;
  const { text } = unifiedDiff(was, is, { from: "before", to: "now" });
  return text === "" ? "nothing" : shortened(text);
}

/** Whole lines from the beginning; a line of a document without line breaks may be all of it. */
function shortened(diff: string): string {
  const lines = diff.trimEnd().split("\n");
  const shown: string[] = [];
  let length = 0;
  for (const line of lines) {
    const short = line.length <= LINE_CHARACTERS ? line : `${line.slice(0, LINE_CHARACTERS)}…`;
    length += short.length + 1;
    if (length > SHOWN_CHARACTERS) return [...shown, `(${lines.length - shown.length} more lines)`].join("\n");
    shown.push(short);
  }
  return shown.join("\n");
}
