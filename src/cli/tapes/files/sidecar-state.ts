import { existsSync } from "node:fs";
import { Chains } from "../../../formats/tapes/sidecar/current-rows.ts";
import { FileEnd } from "../../../formats/tapes/sidecar/new-row.ts";
import { readSidecar } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row, SidecarHeader } from "../../../formats/tapes/sidecar/sidecar.ts";
import type { TapeFacts } from "../../../formats/tapes/tape-facts.ts";
import { Validation } from "../../../formats/tapes/validate/validate.ts";
import { type Progress, watchedBytes } from "./file-bytes.ts";

/** What there is to know of a sidecar to add a row to it. */
export interface SidecarState {
  /** Absent when there is no file yet. */
  readonly header?: SidecarHeader;
  readonly end: FileEnd;
  readonly ids: ReadonlySet<string>;
  /** How many problems the rows that are there have. */
  readonly problems: number;
  /** The row that was asked for by its id. */
  readonly earlier?: EarlierRow;
  /** The events that rows with this id are about, when none of them is the one that was asked for. */
  readonly elsewhere: readonly bigint[];
}

export interface EarlierRow {
  readonly row: Row;
  /** What has replaced it by now: the ids of the newest rows of its chain. Empty when it is the newest itself. */
  readonly newest: readonly string[];
}

export interface Wanted {
  readonly id: string | undefined;
  /** Absent when rows on any event will do. */
  readonly event: bigint | undefined;
}

/** Throws `FileError` when there is a file that is no sidecar. */
export async function sidecarState(path: string, tape: TapeFacts, wanted: Wanted, io: Progress): Promise<SidecarState> {
  const end = new FileEnd();
  const ids = new Set<string>();
  if (!existsSync(path)) return { end, ids, problems: 0, elsewhere: [] };
  const validation = await Validation.start(tape);
  const found = new FoundRow(wanted);
  const header = await readSidecar(path, tapped(watchedBytes(path, io), end), (row, line) => {
    validation.row(row, line);
    if (row.id !== "") ids.add(row.id);
    found.take(row);
  });
  // The header is judged with the new row, so it is not counted among what was wrong before.
  const { findings } = validation.end({ ...header, tape_content_hash: null }, 0);
  const earlier = found.earlier();
  const { elsewhere } = found;
  return { header, end, ids, problems: findings.length, ...(earlier ? { earlier } : {}), elsewhere };
}

async function* tapped(bytes: AsyncIterable<Uint8Array>, end: FileEnd): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    end.take(piece);
    yield piece;
  }
}

/** Looks out for a row, and for what has become of it. */
class FoundRow {
  readonly #wanted: Wanted;
  readonly #chains = new Chains();
  readonly #ids: string[] = [];
  readonly elsewhere: bigint[] = [];
  #found: { readonly row: Row; readonly index: number } | undefined;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  take(row: Row): void {
    if (this.#wanted.id === undefined) return;
    const index = this.#chains.add(row);
    this.#ids.push(row.id);
    if (row.id !== this.#wanted.id) return;
    if (this.#wanted.event === undefined || this.#wanted.event === row.event_id) this.#found = { row, index };
    else this.elsewhere.push(row.event_id);
  }

  earlier(): EarlierRow | undefined {
    if (this.#found === undefined) return undefined;
    const { row, index } = this.#found;
    return { row, newest: this.#chains.isReplaced(index) ? this.#newestOf(index) : [] };
  }

  #newestOf(index: number): string[] {
    const newest = [...this.#ids.keys()].filter((one) => !this.#chains.isReplaced(one) && this.#comesFrom(one, index));
    return newest.map((one) => this.#ids[one] || "one without an id");
  }

  #comesFrom(later: number, earlier: number): boolean {
    for (let one: number | undefined = later; one !== undefined; one = this.#chains.earlierThan(one)) {
      if (one === earlier) return true;
    }
    return false;
  }
}
