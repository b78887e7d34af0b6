export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

/** Reads the little of XML that reports use, strictly: throws for what a parser would refuse. */
export function readXml(source: string): XmlElement {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no place for them.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(source)) throw new Error("a character XML has not");
  if (!source.isWellFormed()) throw new Error("half of a character");
  const body = source.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  let at = 0;
  const element = (): XmlElement => {
    const open = /^<([a-z-]+)((?: [A-Za-z]+="[^"<]*")*)(\/?)>/.exec(body.slice(at));
    if (open === null) throw new Error(`no element at ${body.slice(at, at + 40)}`);
    at += open[0].length;
    const [, name = "", attributes = "", closed] = open;
    const read = { name, attributes: attributesIn(attributes) };
    if (closed === "/") return { ...read, children: [], text: "" };
    const children: XmlElement[] = [];
    let text = "";
    while (!body.startsWith(`</${name}>`, at)) {
      if (at >= body.length) throw new Error(`${name} is not closed`);
      if (body[at] === "<") children.push(element());
      else {
        const end = body.indexOf("<", at);
        text += unescaped(body.slice(at, end));
        at = end;
      }
    }
    at += name.length + 3;
    return { ...read, children, text };
  };
  const root = element();
  if (body.slice(at).trim() !== "") throw new Error("something follows the end");
  return root;
}

function attributesIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/ ([A-Za-z]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [
    name,
    unescaped(value),
  ]);
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) throw new Error(`an attribute twice in ${text}`);
  return Object.fromEntries(pairs);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (/[>]/.test(text)) throw new Error("a bare >");
  return text.replace(/&([a-z]*);?/g, (whole, name: string) => {
    const char = ENTITIES[name];
    if (char === undefined || !whole.endsWith(";")) throw new Error(`no entity ${whole}`);
    return char;
  });
}

export function allNamed(root: XmlElement, name: string): XmlElement[] {
  return [...(root.name === name ? [root] : []), ...root.children.flatMap((child) => allNamed(child, name))];
}
