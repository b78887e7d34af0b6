import type { ShownItem } from "../../engine/gates/decide/inbox-item.ts";
import { showGate } from "../../engine/gates/inbox.ts";
import type { Host } from "../../engine/host.ts";
import type { StoredInterrupt } from "../../store/port/gates.ts";

/** An interrupt as it was read once for all who follow; what is shown of it is made once, and only for those who may see it. */
export class InboxEntry {
  readonly row: StoredInterrupt;
  /** Its run was said to have changed. */
  readonly isChange: boolean;
  readonly #host: Host;
  #item: Promise<ShownItem | undefined> | undefined;

  constructor(host: Host, row: StoredInterrupt, isChange: boolean) {
    this.#host = host;
    this.row = row;
    this.isChange = isChange;
  }

  /** Undefined when it is open and yet cannot be answered. */
  item(): Promise<ShownItem | undefined> {
    this.#item ??= showGate(this.#host, this.row);
    return this.#item;
  }
}
