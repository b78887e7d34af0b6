import { type FrictionEvent, frictionOf } from "../../formats/tapes/export.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { generateContextPackSuggestions, printSuggestions } from "../../formats/tapes/suggest/suggest.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_SUGGEST_FLAGS } from "./commands/patterns.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { loadEach, sidecarFiles, tapeBeside } from "./files/sidecar-files.ts";
import { uuidV7 } from "./files/uuid-v7.ts";
import { suggestionText } from "./text/suggestion-text.ts";

const MIN_OCCURRENCES = 2;

export async function tapeSuggest({ args, flags, json, io }: Call<typeof TAPE_SUGGEST_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { paths, many } = await sidecarFiles(path);
  const now = new Date();
  const events: FrictionEvent[] = [];
  const skipped = await loadEach(paths, { skipBroken: flags.skipBroken, io }, async (file) => {
    const rows: Row[] = [];
    const header = await readSidecar(file, watchedBytes(file, io), (row) => {
      if (row.kind === "friction") rows.push(row);
    });
    // Among many files it must be told where something was met, also when a header does not say.
    const tapePath = header.tape_path ?? (many ? tapeBeside(file) : null);
    for (const row of rows) {
      const event = frictionOf(row, { tapePath, now });
      if (event !== undefined) events.push(event);
    }
  });
  const minOccurrences = Math.max(flags.minOccurrences ?? MIN_OCCURRENCES, MIN_OCCURRENCES);
  const suggestions = generateContextPackSuggestions(events, {
    minOccurrences,
    owner: flags.owner ?? null,
    newId: () => uuidV7(now.getTime()),
    now: now.toISOString(),
    acrossSources: many,
  });
  if (json) io.out(printSuggestions(suggestions));
  else if (suggestions.length > 0) io.out(suggestions.map((one, i) => suggestionText(one, i, io.paint)).join("\n\n"));
  else {
    const rows = formatCount(events.length, "friction row");
    io.out(`Nothing to suggest: ${rows} in ${printable(path)}, nothing met ${minOccurrences} times.`);
  }
  return skipped.length === 0 ? EXIT.fine : EXIT.invalid;
}
