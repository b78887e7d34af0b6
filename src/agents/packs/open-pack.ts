import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { AppError } from "../../protocol/errors.ts";
import { checkPack, type Pack, type PackSuites, requirePack } from "./check-pack.ts";
import type { PackFiles } from "./pack-files.ts";
import type { Publisher } from "./publishers.ts";
import { type PackTrust, signerOf } from "./signature.ts";

export interface PackDesk {
  readonly trust: PackTrust;
  readonly suites: PackSuites;
  readonly scrubber: Scrubber;
  /** Whether discovery advertises it. */
  readonly serves: (capability: string) => boolean;
}

export interface TrustedPack {
  readonly pack: Pack;
  readonly signedBy?: string;
}

/** The signature is checked first: errors of an untrusted pack are not shown. Throws for every pack that cannot be installed. */
export function openPack(files: PackFiles, { trust, suites, scrubber, serves }: PackDesk): TrustedPack {
  const signer = signerOf(files, trust);
  const pack = requirePack(checkPack(files, suites, scrubber));
  if (signer !== undefined) checkPrefixes(pack, signer);
  const missing = pack.needs.filter((capability) => !serves(capability));
  if (missing.length > 0) {
    const named = `${pack.name}@${pack.version}`;
    throw new AppError("pack_peer_dependency_missing", { pack: named, missing: missing.join(", ") });
  }
  return { pack, ...(signer === undefined ? {} : { signedBy: signer.name }) };
}

/** A publisher who may bring some packs cannot bring the agents of others in them. */
function checkPrefixes({ name, agents }: Pack, publisher: Publisher): void {
  const { prefixes } = publisher;
  const names = [name, ...agents.map(({ agentId }) => agentId)];
  const stray = names.find((one) => prefixes !== undefined && !prefixes.some((prefix) => one.startsWith(prefix)));
  if (stray === undefined) return;
  throw new AppError("pack_not_trusted", {
    problem: `${publisher.name} signed it, whose packs and agents do not include ${stray}`,
  });
}
