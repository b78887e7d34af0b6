import { expect, test } from "vitest";
import { GATE_GROUPINGS } from "../../protocol/gates/inbox-api.ts";
import { INTERRUPT_KINDS } from "../../protocol/gates/interrupt.ts";
import { GATES_SUMMARY_FLAGS, INBOX_FLAGS } from "./commands.ts";

// Written out in the table of commands, because loading the protocol would make `assay --help` slow.
test("the choices of the flags are those of the protocol", () => {
  expect(INBOX_FLAGS.kind.choices).toEqual(INTERRUPT_KINDS);
  expect(GATES_SUMMARY_FLAGS.by.choices).toEqual(GATE_GROUPINGS);
});
