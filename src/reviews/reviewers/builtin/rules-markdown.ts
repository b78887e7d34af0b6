import type { Document, Line } from "./document.ts";
import { headingOf } from "./document.ts";
import { quoted, type Rule } from "./rule.ts";

interface Section {
  readonly line: Line;
  readonly level: number;
  readonly title: string;
  /** Titles from the top down to this one. */
  readonly path: string;
  readonly isEmpty: boolean;
}

const sections = new WeakMap<Document, readonly Section[]>();

function sectionsOf(document: Document): readonly Section[] {
  const found = sections.get(document) ?? readSections(document);
  sections.set(document, found);
  return found;
}

function readSections({ lines }: Document): Section[] {
  const headings = lines.flatMap((line, index) => {
    const heading = line.isFenced ? undefined : headingOf(line.text);
    return heading === undefined ? [] : [{ line, index, ...heading }];
  });
  const above: string[] = [];
  return headings.map(({ line, index, level, title }, i) => {
    above.length = Math.min(above.length, level - 1);
    above[level - 1] = title;
    const next = headings[i + 1];
    const isEmpty =
      (next === undefined || next.level <= level) &&
      lines.slice(index + 1, next?.index ?? lines.length).every(({ text }) => isBlank(text.trim()));
    return { line, level, title, path: above.filter((one) => one !== undefined).join(" / "), isEmpty };
  });
}

/** A comment is nothing to a reader. */
function isBlank(text: string): boolean {
  return text === "" || (text.startsWith("<!--") && text.indexOf("-->") === text.length - 3);
}

const emptySection: Rule = {
  id: "empty-section",
  aspect: "completeness",
  kinds: ["markdown"],
  finds: "Headings with nothing below them.",
  recommendation: "Write the section, or take its heading out.",
  *find(document) {
    for (const { line, title, path } of sectionsOf(document).filter(({ isEmpty }) => isEmpty)) {
      yield { key: path, part: title, description: `The section ${quoted(title)} at line ${line.number} is empty.` };
    }
  },
};

const headingJump: Rule = {
  id: "heading-jump",
  aspect: "structure",
  kinds: ["markdown"],
  finds: "Headings that are more than one level below the one before them.",
  recommendation: "Use the next level, so that the outline has no gaps.",
  *find(document) {
    let before: number | undefined;
    for (const { line, level, title, path } of sectionsOf(document)) {
      if (before !== undefined && level > before + 1) {
        yield {
          key: path,
          part: `${before} ${level} ${title}`,
          description: `The heading ${quoted(title)} at line ${line.number} is of level ${level}, right below one of level ${before}.`,
        };
      }
      before = level;
    }
  },
};

const duplicateHeading: Rule = {
  id: "duplicate-heading",
  aspect: "structure",
  kinds: ["markdown"],
  finds: "Two headings of the same words in the same place of the outline.",
  recommendation: "Name them for what differs, or join the two sections.",
  *find(document) {
    const seen = new Map<string, number>();
    for (const { line, title, path, level } of sectionsOf(document)) {
      const outline = `${level} ${path}`;
      const first = seen.get(outline);
      if (first === undefined) seen.set(outline, line.number);
      else {
        yield {
          key: path,
          part: title,
          description: `The heading ${quoted(title)} at line ${line.number} is already there at line ${first}.`,
        };
      }
    }
  },
};

const openFence: Rule = {
  id: "open-fence",
  aspect: "structure",
  kinds: ["markdown"],
  finds: "A fenced block that is never closed.",
  recommendation: "Close the block where the code ends.",
  *find({ lines, openFence: opened }) {
    if (opened === undefined) return;
    const after = lines[opened.number]?.text ?? "";
    yield {
      key: `${opened.place} ${after}`,
      part: after,
      description: `The block that begins at line ${opened.number} is never closed.`,
    };
  },
};

export const MARKDOWN_RULES: readonly Rule[] = [emptySection, headingJump, duplicateHeading, openFence];
