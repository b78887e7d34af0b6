import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { foreignLine, HEADER, JudgmentHost } from "../../../src/testing/judgment-files.ts";

describe.each(HTTP_STORES)("judgments in a file that an agent brings on %s", (_, open) => {
  let here: JudgmentHost;
  let headers: Record<string, string>;
  beforeAll(async () => {
    here = await JudgmentHost.open(open);
    const json = { principal: "bot", kind: "agent", roles: ["admin"] };
    const { key } = (await here.host.ask("POST", "/v1/host/assay/keys", { json })).json();
    headers = { authorization: `Bearer ${key}` };
  });
  afterAll(() => here.close());

  test("are taken when they are an agent's or a check's, and not when they are a person's", async () => {
    const lines = (["person", "agent", "code"] as const).map((actorKind) => foreignLine({ actorKind }));
    const answer = await here.sendLines([HEADER, ...lines], { headers });
    expect(answer.json()).toMatchObject({ imported: 2, refused: [{ line: 2 }] });
    expect(await here.import(lines)).toMatchObject({ imported: 1, unchanged: 2, refused: [] });
  });

  test("withdraw no person's", async () => {
    const line = foreignLine();
    await here.import([line]);
    const retraction = { by: "bot", at: line["createdAt"], reason: "no" };
    const answer = await here.sendLines([HEADER, { ...line, state: "retracted", retraction }], { headers });
    expect(answer.json()).toMatchObject({ updated: 0, refused: [{ line: 2 }] });
    expect(await here.get(String(line["annotationId"]))).toMatchObject({ state: "live" });
  });

  test("replace no person's, in whatever name", async () => {
    const line = foreignLine();
    await here.import([line]);
    const over = foreignLine({ actorKind: "agent", supersedes: line.annotationId });
    const answer = await here.sendLines([HEADER, over], { headers });
    expect(answer.json()).toMatchObject({ imported: 0, refused: [{ line: 2 }] });
    expect(await here.get(line.annotationId)).toMatchObject({ state: "live" });
    // Where somebody did so with two keys of their own, a person brings both.
    const replaced = { state: "superseded", supersededBy: over.annotationId, supersededAt: line["createdAt"] };
    expect(await here.import([{ ...line, ...replaced }, over])).toMatchObject({ updated: 1, imported: 1 });
  });
});
