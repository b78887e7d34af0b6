import { describe, expect, test } from "vitest";
import type { Document, DocumentWrite } from "../../store/port/documents.ts";
import { HOST_WIDE, type Unit } from "../../store/port/store.ts";
import { auditDraft, NOW, newTenant } from "../builders.ts";
import { deletionOf, endedRun } from "./deletion.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

function documentOf(tenant: string, changes: Partial<Document> = {}): Document {
  return { tenant, kind: "suite", key: "a", revision: 1, atMs: NOW, body: "{}", ...changes };
}

const put = (document: Document): DocumentWrite => ({ type: "put", document });
const keep = (document: Document): DocumentWrite => ({ type: "keep", document });

export function documents(subject: Subject): void {
  describe("a document", () => {
    test("comes back as it was written, by tenant, kind and key", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const body = JSON.stringify({ text: '\u2028 \\ " 🦀' });
      const whole = documentOf(tenant, { workspace: "w", expiresAtMs: NOW + 1, body });
      const other = documentOf(tenant, { kind: "agent" });
      await accept(store, { tenant, documents: [put(whole), put(other)] });
      const { kind, key } = whole;
      expect(await store.readDocument({ tenant, kind, key })).toEqual(whole);
      expect(await store.readDocument({ tenant, kind: "agent", key })).toEqual(other);
      expect(await store.readDocument({ tenant: newTenant(), kind, key })).toBeUndefined();
      expect(await store.readDocument({ tenant: HOST_WIDE, kind, key })).toBeUndefined();
      expect(await store.readDocument({ tenant, kind, key: "b" })).toBeUndefined();
    });

    test("is written only by who knows its revision", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const first = documentOf(tenant);
      const id = { tenant, kind: first.kind, key: first.key };
      const standsAt = (revision: number) => ({ type: "document", ...id, revision });
      await accept(store, { tenant, documents: [put(first)] });
      expect(await refused(store, { tenant, documents: [put(first)] })).toEqual(standsAt(1));
      const second = { ...first, revision: 2, body: "[2]" };
      await accept(store, { tenant, documents: [put(second)] });
      expect(await refused(store, { tenant, documents: [put(second)] })).toEqual(standsAt(2));
      const elsewhere = documentOf(tenant, { key: "b", revision: 2 });
      expect(await refused(store, { tenant, documents: [put(elsewhere)] })).toEqual({ ...standsAt(0), key: "b" });
      expect(await refused(store, { tenant, documents: [{ type: "delete", id, revision: 1 }] })).toEqual(standsAt(2));
      expect(await store.readDocument(id)).toEqual(second);
      await accept(store, { tenant, documents: [{ type: "delete", id, revision: 2 }] });
      expect(await store.readDocument(id)).toBeUndefined();
      await accept(store, { tenant, documents: [put(first)] });
    });

    test("of many writers at one revision one gets through", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const units = upTo(9).map((i) => ({ tenant, documents: [put(documentOf(tenant, { body: `${i}` }))] }));
      const outcomes = await Promise.all(units.map((unit) => store.commit(unit)));
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
      const winner = outcomes.findIndex(({ ok }) => ok);
      expect((await store.readDocument({ tenant, kind: "suite", key: "a" }))?.body).toBe(`${winner}`);
    });

    test("that a unit rests on refuses it unless it stands, and is not written", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const first = documentOf(tenant);
      const id = { tenant, kind: first.kind, key: first.key };
      const resting = (revision: number): Unit => ({
        tenant,
        documents: [{ type: "stands", id, revision }],
        audit: [auditDraft("decided")],
      });
      const isAt = (revision: number) => ({ type: "document", ...id, revision });
      await accept(store, resting(0));
      expect(await refused(store, resting(1))).toEqual(isAt(0));
      await accept(store, { tenant, documents: [put(first)] });
      expect(await refused(store, resting(0))).toEqual(isAt(1));
      await accept(store, resting(1));
      expect(await store.readDocument(id)).toEqual(first);
      const { audit: _, ...bare } = resting(1);
      await expect((async () => store.commit(bare))()).rejects.toThrow("audit entries");
    });

    test("and what rests on its absence come one after the other, where they are committed together", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const id = { tenant, kind: "suite", key: "a" } as const;
      const resting: Unit = {
        tenant,
        documents: [{ type: "stands", id, revision: 0 }],
        audit: [auditDraft("decided")],
      };
      const writing: Unit = { tenant, documents: [put(documentOf(tenant))], audit: [auditDraft("written")] };
      await Promise.all([resting, writing, resting, resting].map((unit) => store.commit(unit)));
      const actions = (await store.readAudit(tenant, 1, 100, 100)).map(({ action }) => action);
      expect(actions.slice(actions.indexOf("written"))).toEqual(["written"]);
    });

    test("that is only kept leaves what is there and refuses nobody", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const first = documentOf(tenant, { kind: "eval-cache", body: "1" });
      const both = [first, { ...first, body: "2" }];
      await Promise.all(both.map((document) => accept(store, { tenant, documents: [keep(document)] })));
      const found = await store.readDocument(first);
      expect(["1", "2"]).toContain(found?.body);
      await accept(store, { tenant, documents: [keep({ ...first, body: "3" })] });
      expect(await store.readDocument(first)).toEqual(found);
    });

    test("is listed by key in pages, and by how its key begins", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const keys = ["A", "a", "a/", "a/1", "a/Z", "a/\u{ffff}", "a/\u{10000}", "a0", "b"];
      const made = keys.map((key) => documentOf(tenant, { key }));
      await accept(store, { tenant, documents: [...made].reverse().map(put) });
      const list = (query: { after?: string; prefix?: string }, limit = 99) =>
        store.listDocuments(tenant, "suite", { limit, ...query });
      expect(await list({})).toEqual(made);
      expect(await list({ after: "a" }, 2)).toEqual(made.slice(2, 4));
      expect(await list({ prefix: "a/" })).toEqual(made.slice(2, 7));
      expect(await list({ prefix: "a/", after: "a/1" }, 1)).toEqual(made.slice(4, 5));
      expect(await store.listDocuments(newTenant(), "suite", { limit: 9 })).toEqual([]);
      const sizes = await store.documentSizes(tenant, "suite", { prefix: "a/", after: "a/1", limit: 2 });
      expect(sizes).toEqual(made.slice(4, 6).map(({ key, body }) => ({ key, bytes: Buffer.byteLength(body) })));
      const several = await store.readDocuments(tenant, "suite", ["b", "nowhere", "A"]);
      expect(several.map(({ key }) => key).sort()).toEqual(["A", "b"]);
      const many = upTo(1200).map((i) => `none ${i}`);
      expect(await store.readDocuments(tenant, "suite", [...many, "a0"])).toHaveLength(1);
    });

    test("is refused with its whole unit, and its unit with it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await accept(store, { tenant, documents: [put(documentOf(tenant))] });
      const unit = { tenant, documents: [put(documentOf(tenant, { key: "new" })), put(documentOf(tenant))] };
      expect(await refused(store, unit)).toMatchObject({ type: "document", key: "a", revision: 1 });
      expect(await store.readDocument({ tenant, kind: "suite", key: "new" })).toBeUndefined();
    });

    test("goes with its run, and when its time is over", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await endedRun(store, { tenant });
      const { runId } = run;
      const written = ["x", "y"].map((key) => documentOf(tenant, { kind: "eval-task", key, runId }));
      const brief = documentOf(tenant, { kind: "eval-cache", key: "brief", expiresAtMs: NOW });
      const lasting = documentOf(tenant, { kind: "eval-cache", key: "lasting", expiresAtMs: NOW + 1 });
      await accept(store, { tenant, documents: [...written, brief, lasting].map(put) });
      await accept(store, { tenant, deletions: [deletionOf(run)] });
      expect(await store.listDocuments(tenant, "eval-task", { limit: 9 })).toEqual([]);
      expect(await store.purge(NOW)).toBe(1);
      expect(await store.listDocuments(tenant, "eval-cache", { limit: 9 })).toEqual([lasting]);
    });
  });
}
