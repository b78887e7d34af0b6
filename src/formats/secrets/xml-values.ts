import { checked } from "./checked-value.ts";
import { isSecretName } from "./secret-names.ts";
import type { TextRange } from "./text-range.ts";

const END_TAG = /<\/([A-Za-z][\w:.-]{1,79})\s{0,64}>/y;

/** Values of elements that have a secret name: <password>value</password> */
export function elementSecretsIn(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf("</"), done = 0; at !== -1; at = text.indexOf("</", at + 2)) {
    END_TAG.lastIndex = at;
    const name = END_TAG.exec(text)?.[1];
    if (name === undefined || !isSecretName(name)) continue;
    const range = contentOf(text.slice(done, at), name);
    const value = range === undefined ? undefined : checked(text, [done + range[0], done + range[1]], name);
    if (value !== undefined) found.push(value);
    done = at;
  }
  return found;
}

const CDATA = "<![CDATA[";

/** The text of the element that a part of a document ends with, without the marks around one that is written as it is. */
function contentOf(part: string, name: string): TextRange | undefined {
  const to = part.trimEnd().length;
  if (part.endsWith("]]>", to)) {
    const from = part.indexOf(CDATA, Math.max(0, part.lastIndexOf(`<${name}`)));
    return from === -1 ? undefined : [from + CDATA.length, to - "]]>".length];
  }
  const from = part.lastIndexOf(">") + 1;
  return from === 0 || part.includes("<", from) ? undefined : [from, part.length];
}
