import { expect, test } from "vitest";
import { PRINCIPAL_KINDS } from "../../protocol/identity/identity.ts";
import { ACTOR_KINDS, ANNOTATION_STATES, SIGNAL_KINDS } from "../../protocol/judgments/annotation.ts";
import { KEY_CREATE_FLAGS } from "../identity/commands.ts";
import { ANNOTATIONS_FLAGS } from "./commands.ts";

// Written out in the table of commands, because loading the protocol would make `assay --help` slow.
test("the choices of the flags are those of the protocol", () => {
  expect(ANNOTATIONS_FLAGS.signal.choices).toEqual(SIGNAL_KINDS);
  expect(ANNOTATIONS_FLAGS.actorKind.choices).toEqual(ACTOR_KINDS);
  expect(ANNOTATIONS_FLAGS.state.choices).toEqual(ANNOTATION_STATES);
  expect(KEY_CREATE_FLAGS.kind.choices).toEqual(PRINCIPAL_KINDS);
});
