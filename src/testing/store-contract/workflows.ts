import { describe, expect, test } from "vitest";
import { HOST_WIDE } from "../../store/port/store.ts";
import { NOW, newTenant, workflowWrite } from "../builders.ts";
import { accept, type Subject, upTo } from "./subject.ts";

export function workflows(subject: Subject): void {
  describe("a workflow", () => {
    test("is found by id and by hash, its text unchanged", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const write = workflowWrite(tenant, "wf-a", 'Say "hello"');
      const { workflowId, hash, definition } = write;
      await accept(store, { tenant, workflows: [write] });
      const stored = { workflowId, hash, definition, registeredAtMs: NOW };
      expect(await store.readWorkflow(tenant, workflowId)).toEqual(stored);
      expect(await store.readWorkflowHash(tenant, workflowId)).toBe(hash);
      expect(await store.readWorkflowByHash(hash)).toEqual(stored);
      expect(await store.readWorkflow(tenant, "wf-b")).toBeUndefined();
      expect(await store.readWorkflowHash(tenant, "wf-b")).toBeUndefined();
      expect(await store.readWorkflowByHash("0".repeat(64))).toBeUndefined();
    });

    test("is the newest under its id, while older ones stay under their hashes", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [first, second] = [workflowWrite(tenant, "wf-a", "one"), workflowWrite(tenant, "wf-a", "two", NOW + 1)];
      await accept(store, { tenant, workflows: [first] });
      await accept(store, { tenant, workflows: [second] });
      expect((await store.readWorkflow(tenant, "wf-a"))?.definition).toBe(second.definition);
      expect((await store.readWorkflowByHash(first.hash))?.definition).toBe(first.definition);

      // Going back to an earlier text is a registration like any other.
      await accept(store, { tenant, workflows: [{ ...first, atMs: NOW + 2 }] });
      expect(await store.readWorkflow(tenant, "wf-a")).toMatchObject({ hash: first.hash, registeredAtMs: NOW + 2 });
      expect(await store.readWorkflowHash(tenant, "wf-a")).toBe(first.hash);
      expect((await store.listWorkflows(tenant, "", 10)).map(({ hash }) => hash)).toEqual([first.hash]);
    });

    test("never changes under its hash", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const write = workflowWrite(tenant, "wf-a");
      await accept(store, { tenant, workflows: [write] });
      await accept(store, { tenant, workflows: [{ ...write, definition: "{}" }] });
      expect((await store.readWorkflowByHash(write.hash))?.definition).toBe(write.definition);
    });

    test("can be registered by many at once", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const writes = upTo(10).map((n) => workflowWrite(tenant, "wf-a", `title ${n % 3}`));
      await Promise.all(writes.map((write) => accept(store, { tenant, workflows: [write] })));
      const newest = await store.readWorkflow(tenant, "wf-a");
      expect(writes.map((write) => write.definition)).toContain(newest?.definition);
      for (const { hash, definition } of writes) {
        expect((await store.readWorkflowByHash(hash))?.definition).toBe(definition);
      }
    });
  });

  describe("a tenant's own workflow", () => {
    test("shadows the host-wide one for that tenant only", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      const hostWide = workflowWrite(HOST_WIDE, "wf-a", "the host's");
      const own = workflowWrite(tenant, "wf-a", "the tenant's");
      await accept(store, { tenant, workflows: [own] });
      expect(await store.readWorkflow(other, "wf-a")).toBeUndefined();
      await accept(store, { tenant: "_host", workflows: [hostWide] });
      expect((await store.readWorkflow(tenant, "wf-a"))?.hash).toBe(own.hash);
      expect((await store.readWorkflow(other, "wf-a"))?.hash).toBe(hostWide.hash);
      expect(await store.readWorkflowHash(tenant, "wf-a")).toBe(own.hash);
      expect(await store.readWorkflowHash(other, "wf-a")).toBe(hostWide.hash);
    });

    test("is listed in place of the host-wide one, page by page in the order of ids", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      // Byte order: capitals come before the hyphen's neighbours, whatever the database's locale says.
      const hostWide = ["wf-a", "wf-C", "wf-d", "wf_e"].map((id) => workflowWrite(HOST_WIDE, id, "host"));
      const own = ["wf-b", "wf-C"].map((id) => workflowWrite(tenant, id, "own"));
      await accept(store, { tenant: "_host", workflows: hostWide });
      await accept(store, { tenant, workflows: own });

      const list = async (who: string, after: string, limit: number) =>
        (await store.listWorkflows(who, after, limit)).map(({ workflowId, definition }) => [
          workflowId,
          JSON.parse(definition).title,
        ]);
      expect(await list(tenant, "", 3)).toEqual([
        ["wf-C", "own"],
        ["wf-a", "host"],
        ["wf-b", "own"],
      ]);
      expect(await list(tenant, "wf-b", 3)).toEqual([
        ["wf-d", "host"],
        ["wf_e", "host"],
      ]);
      expect((await list(other, "", 10)).map(([id]) => id)).toEqual(["wf-C", "wf-a", "wf-d", "wf_e"]);
      const heads = (await store.listWorkflows(tenant, "wf-C", 3)).map(({ workflowId, hash }) => ({
        workflowId,
        hash,
      }));
      expect(await store.listWorkflowHeads(tenant, "wf-C", 3)).toEqual(heads);
    });
  });
}
