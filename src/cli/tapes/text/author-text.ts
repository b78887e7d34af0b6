import type { Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { printable } from "../../output/printable.ts";

/** `ines`, `checker (agent)`, `a human`: people are named without more. */
export function authorText({ id, kind }: NonNullable<Row["author"]>): string {
  if (id === null || id === "") return kind === "agent" ? "an agent" : `a ${kind}`;
  return printable(kind === "human" ? id : `${id} (${kind})`);
}
