import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { acceptRollback, rollbackOf } from "../../engine/audit/anchor.ts";
import { type Checkpointer, checkpointer } from "../../engine/audit/checkpointer.ts";
import { auditSigner, newKeyPem, rotatedPem } from "../../engine/audit/signer.ts";
import { verifyAudit } from "../../engine/audit/verify.ts";
import type { Store } from "../../store/port/store.ts";
import { checkpointsOf, record } from "../../testing/audit-log.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { auditDraft } from "../../testing/builders.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { AnchorFolder } from "./anchor-folder.ts";

const T = "acme";
const EVERY = { intervalEntries: 4, intervalSeconds: 300, sweepMs: 1000 };
const pem = newKeyPem();

describe.each(BOTH_STORES)("an audit log whose key has an anchor, on %s,", (_, open) => {
  const opened: Awaited<ReturnType<typeof open>>[] = [];
  afterEach(async () => {
    for (const { store, drop } of opened.splice(0)) {
      await store.close();
      await drop();
    }
  });

  /** A database of its own: one that is opened later is what the first would be after it was rolled back or written anew. */
  const database = async (): Promise<Store> => {
    const one = await open();
    opened.push(one);
    return one.store;
  };
  const newFolder = () => new AnchorFolder(join(tempDir(), "audit.pem.anchors"));
  const signerOf = (store: Store) => auditSigner(store, { privateKeyPem: pem });
  const signing = async (store: Store, folder: AnchorFolder, troubles: unknown[] = []): Promise<Checkpointer> =>
    checkpointer(hostAt(store), await signerOf(store), EVERY, (error) => troubles.push(error), folder);
  const verified = async (store: Store, folder: AnchorFolder) =>
    verifyAudit(store, await signerOf(store), T, 0, 1000, await folder.read(T));
  /** Six entries that were signed. */
  const signed = async (): Promise<{ store: Store; folder: AnchorFolder }> => {
    const [store, folder] = [await database(), newFolder()];
    await record(store, T, 6);
    await (await signing(store, folder)).checkpointTenant(T);
    expect(await folder.read(T)).toMatchObject({ seq: 6, checkpoint: { atSequence: 6 } });
    return { store, folder };
  };
  const refused = async (store: Store, folder: AnchorFolder, problem: RegExp): Promise<void> => {
    const before = await checkpointsOf(store, T);
    const troubles: unknown[] = [];
    const signs = await signing(store, folder, troubles);
    await expect(signs.checkpointTenant(T)).rejects.toMatchObject({ code: "audit_anchor_conflict" });
    await expect(signs.checkpointTenant(T)).rejects.toThrow(problem);
    await signs.sweep();
    expect(troubles).toMatchObject([{ code: "audit_anchor_conflict", details: { tenant: T } }]);
    expect([...signs.refused().keys()]).toEqual([T]);
    expect(await checkpointsOf(store, T)).toEqual(before);
  };

  test("is signed further, by this process and the next", async () => {
    const { store, folder } = await signed();
    await record(store, T, 5);
    await (await signing(store, folder)).checkpointTenant(T);
    expect(await checkpointsOf(store, T)).toEqual([
      [0, 4],
      [4, 6],
      [6, 10],
      [10, 11],
    ]);
    expect(await folder.read(T)).toMatchObject({ seq: 11, checkpoint: { atSequence: 11 } });
    expect(await verified(store, folder)).toMatchObject({ chainValid: true, checkpointsValid: true });
  });

  test("is not signed when it was cut off or rolled back, and does not verify", async () => {
    const { folder } = await signed();
    const rolledBack = await database();
    await record(rolledBack, T, 3);
    await refused(rolledBack, folder, /entry 6.* is not there.*rolled back.*assay audit accept/);
    const found = await verified(rolledBack, folder);
    expect(found).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 6, actualPrevHash: "" }] });
  });

  test("is not signed when it was written anew, however long it is, and does not verify", async () => {
    const { folder } = await signed();
    const rewritten = await database();
    await accept(rewritten, { tenant: T, audit: Array.from({ length: 9 }, () => auditDraft("nothing.happened")) });
    await refused(rewritten, folder, /entry 6 is not the one that was signed/);
    expect(await verified(rewritten, folder)).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 6 }] });
  });

  test("is not signed when its checkpoints were dropped, and does not verify", async () => {
    const { folder } = await signed();
    const dropped = await database();
    await record(dropped, T, 6);
    await refused(dropped, folder, /checkpoint at entry 6.* is not there/);
    expect(await verified(dropped, folder)).toMatchObject({ chainValid: false, checkpointsValid: false });
  });

  /** A checkpoint that was put into the table by hand. */
  const strayAt = (prevSequence: number, atSequence: number) => ({
    checkpoint: "cp-stray",
    atSequence,
    merkleRoot: "0".repeat(64),
    signature: "",
    prevSequence,
    atMs: 0,
  });

  test.each([
    ["far behind its end", 10 ** 12, 10 ** 12],
    ["in the place of the next one, with an end before the log", 6, -5],
  ])("is reported as not signed, and does not verify, with a stray checkpoint %s", async (_, prev, at) => {
    const { store, folder } = await signed();
    await store.putCheckpoint(T, strayAt(prev, at));
    await record(store, T, 5);
    await refused(store, folder, /checkpoint/);
    expect(await verified(store, folder)).toMatchObject({ chainValid: false, checkpointsValid: false });
  });

  test("is signed when it is due, whatever time its last checkpoint has", async () => {
    const { store, folder } = await signed();
    await record(store, T, 1);
    // The time of a checkpoint is not signed: a database administrator can change it.
    const backlog = { tenant: T, headSeq: 7, checkpointSeq: 6, checkpointAtMs: 10 ** 15 };
    const later = vi.spyOn(store, "auditBacklog").mockResolvedValue([backlog]);
    await (await signing(store, folder)).sweep();
    later.mockRestore();
    expect((await checkpointsOf(store, T)).at(-1)).toEqual([6, 7]);
  });

  test("is found out when a host starts, before anything is due to be signed", async () => {
    const { folder } = await signed();
    const troubles: unknown[] = [];
    const signs = await signing(await database(), folder, troubles);
    signs.start();
    await signs.stop();
    expect(troubles).toMatchObject([{ code: "audit_anchor_conflict", details: { tenant: T } }]);
    expect([...signs.refused().keys()]).toEqual([T]);
  });

  test("goes on after a crash between the anchor and the checkpoint", async () => {
    const { store, folder } = await signed();
    await record(store, T, 3);
    const put = vi.spyOn(store, "putCheckpoint").mockRejectedValueOnce(new Error("the process ends here"));
    await expect((await signing(store, folder)).checkpointTenant(T)).rejects.toThrow("ends here");
    put.mockRestore();
    expect(await folder.read(T)).toMatchObject({ seq: 9, checkpoint: { atSequence: 6 } });
    expect(await verified(store, folder)).toMatchObject({ chainValid: true });
    await record(store, T, 2);
    await (await signing(store, folder)).checkpointTenant(T);
    expect(await folder.read(T)).toMatchObject({ seq: 11, checkpoint: { atSequence: 11 } });
    expect(await verified(store, folder)).toMatchObject({ chainValid: true });
  });

  test("is signed by several hosts, which share a folder or have one each", async () => {
    const store = await database();
    const [shared, own] = [newFolder(), newFolder()];
    const hosts = [await signing(store, shared), await signing(store, shared), await signing(store, own)];
    for (let round = 0; round < 4; round++) {
      await Promise.all([record(store, T, 7), ...hosts.map((host) => host.sweep())]);
      await Promise.all(hosts.map((host) => host.checkpointTenant(T)));
    }
    await record(store, T, 1);
    for (const host of hosts) await host.checkpointTenant(T);
    for (const host of hosts) expect(host.refused().size).toBe(0);
    for (const folder of [shared, own]) {
      expect(await verified(store, folder)).toMatchObject({ chainValid: true, anomalies: [] });
    }
    expect(await shared.read(T)).toMatchObject({ seq: 29 });
  });

  test("is signed by no host that does not know the key that signed last, and verifies with the new key", async () => {
    const { store, folder } = await signed();
    const rotated = await auditSigner(store, { privateKeyPem: rotatedPem(pem) });
    await record(store, T, 2);
    await checkpointer(hostAt(store), rotated, EVERY, () => {}, folder).checkpointTenant(T);
    await record(store, T, 5);
    await refused(store, folder, /checkpoint at entry 8 was signed by no key of this host.*start this host again/);
    await checkpointer(hostAt(store), rotated, EVERY, () => {}, folder).checkpointTenant(T);
    const found = await verifyAudit(store, rotated, T, 0, 1000, await folder.read(T));
    expect(found).toMatchObject({ chainValid: true, checkpointsValid: true });
    expect(found.checkpoints.at(-1)).toMatchObject({ atSequence: 13 });
  });

  test("that another host wrote anew behind its own anchor is not signed", async () => {
    const { folder } = await signed();
    const [rewritten, theirs] = [await database(), newFolder()];
    await record(rewritten, T, 4);
    await accept(rewritten, { tenant: T, audit: [auditDraft("nothing.happened"), auditDraft("nothing.more")] });
    await (await signing(rewritten, theirs)).checkpointTenant(T);
    await record(rewritten, T, 4);
    await refused(rewritten, folder, /entry 6 is not the one/);
  });

  test("begins its anchor where it has none, on a chain that holds", async () => {
    const store = await database();
    await record(store, T, 6);
    await checkpointer(hostAt(store), await signerOf(store), EVERY).checkpointTenant(T);
    await record(store, T, 1);
    const folder = newFolder();
    await (await signing(store, folder)).checkpointTenant(T);
    expect(await folder.read(T)).toMatchObject({ seq: 7, checkpoint: { atSequence: 7 } });
  });

  test.each([
    ["no JSON", "{"],
    ["of another version", JSON.stringify({ format: "assay-audit-anchor", version: 2, tenant: T, seq: 1, hash: "x" })],
    ["incomplete", JSON.stringify({ format: "assay-audit-anchor", version: 1, tenant: T })],
  ])("is not signed while its anchor is %s", async (_, text) => {
    const { store, folder } = await signed();
    const [name = ""] = readdirSync(folder.path);
    const good = readFileSync(join(folder.path, name), "utf8");
    writeFileSync(join(folder.path, name), text);
    await record(store, T, 1);
    const signs = await signing(store, folder);
    await expect(signs.checkpointTenant(T)).rejects.toMatchObject({ code: "audit_anchor_unusable" });
    await expect(verified(store, folder)).rejects.toMatchObject({ code: "audit_anchor_unusable" });
    writeFileSync(join(folder.path, name), good);
    await signs.checkpointTenant(T);
    expect(await folder.read(T)).toMatchObject({ seq: 7 });
  });

  test("is not signed where its anchor cannot be kept", async () => {
    const store = await database();
    await record(store, T, 1);
    const path = join(tempDir(), "a-file");
    writeFileSync(path, "");
    const signs = await signing(store, new AnchorFolder(join(path, "anchors")));
    await expect(signs.checkpointTenant(T)).rejects.toMatchObject({ code: "audit_anchor_unusable" });
    expect(await checkpointsOf(store, T)).toEqual([]);
  });

  test("is signed again once an operator accepted the rollback, which the log and the anchor record", async () => {
    const { folder } = await signed();
    const restored = await database();
    await record(restored, T, 3);
    const rollback = await rollbackOf({ store: restored }, T, await folder.read(T));
    if (rollback === undefined) throw new Error("there is no rollback");
    const by = "operator:olga";
    await folder.hold(T, async () => {
      const anchor = await acceptRollback(hostAt(restored), rollback, { by, reason: "restored Monday" });
      await folder.write(T, anchor, [{ at: "2027-01-01T00:00:00.000Z", by, reason: "x", before: rollback.before }]);
    });
    const [entry] = await restored.readAudit(T, 4, 4, 1);
    expect(entry).toMatchObject({ actor: by, action: "audit.rollback.accepted" });
    expect(entry?.details).toMatchObject({ reason: "restored Monday", signedSeq: 6 });
    expect(await rollbackOf({ store: restored }, T, await folder.read(T))).toBeUndefined();
    await (await signing(restored, folder)).checkpointTenant(T);
    expect(await verified(restored, folder)).toMatchObject({ chainValid: true, checkpointsValid: true });
    const [name = ""] = readdirSync(folder.path);
    const kept = JSON.parse(readFileSync(join(folder.path, name), "utf8"));
    expect(kept).toMatchObject({ seq: 4, accepted: [{ by, before: { seq: 6 } }] });
    expect(await folder.tenants()).toEqual([T]);
  });
});

test("the folder of anchors ignores files that are none", async () => {
  const folder = new AnchorFolder(join(tempDir(), "anchors"));
  expect(await folder.tenants()).toEqual([]);
  mkdirSync(folder.path);
  writeFileSync(join(folder.path, "notes.txt"), "");
  expect(await folder.tenants()).toEqual([]);
});
