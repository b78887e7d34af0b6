import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { acceptRollback, type Rollback, rollbackOf } from "../../engine/audit/anchor.ts";
import { auditKeyId, auditSigner, newKeyPem, rotatedPem } from "../../engine/audit/signer.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import { readText } from "../files/arguments.ts";
import { writeWhole } from "../files/write-file.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { openStore, requireExisting } from "../server/database.ts";
import { type AnchorFolder, anchorsFor } from "../wiring/anchor-folder.ts";

import type { AUDIT_ACCEPT_FLAGS, AUDIT_ROTATE_FLAGS } from "./commands.ts";

export async function auditAccept({ flags, json, config, io }: Call<typeof AUDIT_ACCEPT_FLAGS>): Promise<number> {
  const anchors = anchorsFor(config);
  if (anchors === undefined) {
    throw unusableInput("name the anchors: --audit-key FILE or --audit-anchor DIR");
  }
  requireExisting(config);
  const store = await openStore(config);
  try {
    const tenants = flags.tenant === undefined ? await anchors.tenants() : [flags.tenant];
    const { reason } = flags;
    const found: Rollback[] = [];
    for (const tenant of tenants) found.push(...(await settle(store, anchors, tenant, reason)));
    if (json) io.out(JSON.stringify({ accepted: reason !== undefined, tenants: found }));
    else for (const line of describe(found, reason)) io.out(printable(line));
    return found.length > 0 && reason === undefined ? EXIT.negative : EXIT.fine;
  } finally {
    await store.close();
  }
}

/** The rollback of a tenant's log, accepted where there is a reason. The anchor is locked, because a host may be writing it. */
function settle(store: Store, anchors: AnchorFolder, tenant: string, reason: string | undefined): Promise<Rollback[]> {
  return anchors.hold(tenant, async () => {
    const rollback = await rollbackOf({ store }, tenant, await anchors.read(tenant));
    if (rollback === undefined) return [];
    if (reason === undefined) return [rollback];
    const by = `operator:${userInfo().username}`;
    const anchor = await acceptRollback({ store, nowMs: Date.now }, rollback, { by, reason });
    const accepted = { at: new Date().toISOString(), by, reason, before: rollback.before };
    await anchors.write(tenant, anchor, [accepted]);
    return [rollback];
  });
}

function describe(found: readonly Rollback[], reason: string | undefined): string[] {
  if (found.length === 0) return ["Every log continues what was signed; there is nothing to accept."];
  const lines = found.map(({ tenant, problem }) => `${tenant}: ${problem}`);
  return reason === undefined
    ? [...lines, "Nothing was changed. Find out why first; accept it with --reason TEXT."]
    : [...lines.map((line) => `accepted  ${line}`), "Checkpoints are signed again from here on."];
}

export async function auditRotateKey({ args, flags, json, io }: Call<typeof AUDIT_ROTATE_FLAGS>): Promise<undefined> {
  const [file = ""] = args;
  const pem = existsSync(file) ? rotatedPem(readText(file, file), flags.trust) : newKeyPem(flags.trust);
  const { publicKey, earlierPublicKeys } = await auditSigner(NO_STORE, { privateKeyPem: pem });
  await writeWhole(file, [pem], { ownerOnly: true });
  const keyId = auditKeyId(publicKey);
  if (json) return void io.out(JSON.stringify({ file, keyId, publicKey, earlierPublicKeys }));
  io.out(publicKey);
  io.err(`assay: ${file} has key ${keyId} now, and ${earlierPublicKeys.length} before it. Start the hosts again.`);
  return undefined;
}

const NO_STORE = { hostSecret: () => Promise.reject(new Error("the key is in the file")) };
