import type { TSchema } from "../../src/protocol/schema.ts";
import { below, randomText, several } from "../../src/testing/random-json.ts";
import { pick, type Random } from "../../src/testing/random-workflow.ts";

/** The keywords of JSON Schema that the generator knows; others are left to chance. */
interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly items?: Shape | readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
}

/** A value that mostly fits a schema: each member that is required, and some of the others. */
export function generate(random: Random, schema: TSchema): unknown {
  return fromShape(random, schema as Shape, 6);
}

function fromShape(random: Random, shape: Shape, depth: number): unknown {
  if (shape.const !== undefined) return shape.const;
  if (shape.enum !== undefined) return pick(random, shape.enum);
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices !== undefined) return fromShape(random, pick(random, choices), depth);
  if (shape.allOf !== undefined) return Object.assign({}, ...shape.allOf.map((part) => fromShape(random, part, depth)));
  if (depth === 0) return null;
  switch (shape.type) {
    case "object":
      return fromObject(random, shape, depth);
    case "array":
      return fromArray(random, shape, depth);
    case "string":
      return text(random, shape);
    case "integer":
    case "number":
      return number(random, shape);
    case "boolean":
      return random() < 0.5;
    default:
      return pick(random, [null, 1, "x", {}, []]);
  }
}

function fromObject(random: Random, { properties = {}, required = [] }: Shape, depth: number): object {
  const names = Object.keys(properties).filter((name) => required.includes(name) || random() < 0.4);
  return Object.fromEntries(names.map((name) => [name, fromShape(random, properties[name] ?? {}, depth - 1)]));
}

function fromArray(random: Random, { items = {}, minItems = 0 }: Shape, depth: number): unknown[] {
  if (Array.isArray(items)) return items.map((item: Shape) => fromShape(random, item, depth - 1));
  const made = several(random, 3, () => fromShape(random, items as Shape, depth - 1));
  while (made.length < minItems) made.push(fromShape(random, items as Shape, depth - 1));
  return made;
}

/** Often at the edges of what is allowed. */
function text(random: Random, { minLength = 0, maxLength = 40 }: Shape): string {
  const length = pick(random, [
    minLength,
    Math.min(maxLength, 6000),
    Math.min(maxLength, minLength + below(random, 20)),
  ]);
  return random() < 0.3 ? randomText(random).padEnd(minLength, "x") : "a".repeat(length);
}

function number(random: Random, { minimum = -1000, maximum = 1000, type }: Shape): number {
  const inside = minimum + random() * (maximum - minimum);
  const value = pick(random, [minimum, maximum, inside]);
  return type === "integer" ? Math.round(value) : value;
}
