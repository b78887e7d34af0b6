import { existsSync, readdirSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Call } from "../program/command.ts";
import type { Config } from "../settings/settings.ts";
import type { EXPORT_FLAGS } from "./commands.ts";
import { exportJudgments } from "./export.ts";

const HEADER = '{"type":"header","format":"assay-judgments","version":1}\n';
const LINE = '{"type":"annotation"}\n';

let server: Server;
let answer: (response: ServerResponse) => void = () => {};
beforeAll(async () => {
  server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());

function call(output: string | undefined, io = recordedIo()): Call<typeof EXPORT_FLAGS> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { url, key: "key", timeoutMs: 5000 } as Config;
  const flags = { output, force: false } as Call<typeof EXPORT_FLAGS>["flags"];
  return { args: [], flags, json: false, config, given: new Set(), isSet: () => false, io };
}

describe("an export that ends early", () => {
  const broken: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ["without its end", (response) => response.end(HEADER + LINE)],
    ["in the middle of a line", (response) => response.end(HEADER + LINE.slice(0, 9))],
    ["with a line too few", (response) => response.end(`${HEADER}${LINE}{"type":"end","count":2}\n`)],
    ["before anything", (response) => response.end()],
    [
      "with its connection",
      (response) => {
        response.write(HEADER + LINE);
        setTimeout(() => response.destroy(), 20);
      },
    ],
  ];
  test.each(broken)("%s leaves no file behind, and is an error", async (_, how) => {
    answer = how;
    const folder = tempDir();
    const file = join(folder, "out.jsonl");
    await expect(exportJudgments(call(file))).rejects.toMatchObject({ code: "unreachable" });
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is an error on standard output too", async () => {
    answer = (response) => response.end(HEADER + LINE);
    await expect(exportJudgments(call(undefined))).rejects.toMatchObject({ code: "unreachable" });
  });
});

describe("a complete export", () => {
  test("is printed line by line, unchanged", async () => {
    answer = (response) => response.end(`${HEADER}${LINE}{"type":"end","count":1}\n`);
    const io = recordedIo();
    await exportJudgments(call(undefined, io));
    expect(io.outLines).toEqual([HEADER.trim(), LINE.trim(), '{"type":"end","count":1}']);
  });
});
