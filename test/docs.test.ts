import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

describe("the documentation", () => {
  test.each(pages)("%s links to what is there", (page) => {
    const broken = linksOf(read(page)).filter((link) => !resolves(page, link));
    expect(broken).toEqual([]);
  });

  test("can be reached from the README, every page of it", () => {
    const seen = new Set(["README.md"]);
    for (const page of seen) {
      for (const link of linksOf(read(page))) {
        const [path = ""] = link.split("#");
        if (path.endsWith(".md")) seen.add(join(dirname(page), path));
      }
    }
    expect(pages.filter((page) => !seen.has(page))).toEqual([]);
  });
});

function read(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The targets of links inside the repository; what is in code is no link. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```/gms, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target).filter((link) => !/^\w+:/.test(link));
}

function resolves(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

/** As GitHub names headings. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.match(/^#+ .*$/gm) ?? [];
  return headings.map((line) =>
    line
      .replace(/^#+ /, "")
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
