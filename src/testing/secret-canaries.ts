import { SECRET_SHAPES } from "../formats/secrets/secret-shapes.ts";
import { KNOWN_SECRET } from "./engine.ts";
import { RULE_SET_EXAMPLES } from "./rule-set-examples.ts";

/** A secret of every shape that a host takes out, and what must not be left of it. */
export const CANARIES: readonly { readonly text: string; readonly secret: string }[] = [
  ...SECRET_SHAPES.map(({ example, pattern }) => {
    const [match] = [...example.matchAll(pattern)];
    return { text: example, secret: match?.[0].slice(match.groups?.["kept"]?.length ?? 0) ?? example };
  }),
  ...Object.values(RULE_SET_EXAMPLES).map((text) => ({ text, secret: text.slice(-25, -1) })),
  { text: KNOWN_SECRET, secret: KNOWN_SECRET },
];

/** Those of them that can still be read in a text, also as JSON writes it. */
export function readableIn(text: string): string[] {
  const found = CANARIES.map(({ secret }) => secret).filter(
    (secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
  );
  return found;
}
