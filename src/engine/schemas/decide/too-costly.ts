/** Thrown through a check that asks for more work than it is worth. Nothing may be taken to hold because of it. */
export class TooCostly extends Error {
  override readonly name = "TooCostly";
}

/** The units of a budget are spent; with a greater budget the check might have come to an end. */
export class OutOfWork extends TooCostly {}
