import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { parsedJson } from "../../formats/json/check-json.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { closed, matches, type Problem, problemsOf, problemText, type Static, Type } from "../../protocol/schema.ts";
import { fingerprintOf } from "./signature.ts";

const PublishersFile = Type.Object(
  {
    publishers: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 200 }),
          publicKey: Type.String({ minLength: 1, maxLength: 2000 }),
          packs: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1 })),
        },
        closed,
      ),
    ),
  },
  closed,
);

export interface Publisher {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly fingerprint: string;
  /** Prefixes of the publisher's packs and agents; absent: any name. */
  readonly prefixes?: readonly string[];
}

/** Throws one `unusable_input` that names everything that is wrong with the file. */
export function loadPublishers(path: string): Publisher[] {
  const read = parsePublishers(jsonIn(path));
  if (read.ok) return read.publishers;
  const problems = read.problems.map((one) => problemText(one));
  throw new AppError("unusable_input", { problem: `${path} cannot be used: ${problems.join("; ")}`, problems });
}

type Parsed =
  | { readonly ok: true; readonly publishers: Publisher[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function parsePublishers(value: unknown): Parsed {
  if (!matches(PublishersFile, value)) return { ok: false, problems: problemsOf(PublishersFile, value, 1000) };
  const problems: Problem[] = [];
  const publishers = value.publishers.flatMap((entry, i) => {
    const found = publisherOf(entry);
    if (found === undefined) {
      problems.push({ path: `/publishers/${i}/publicKey`, problem: "must be an Ed25519 public key in PEM" });
      return [];
    }
    return [found];
  });
  for (const [i, { fingerprint }] of publishers.entries()) {
    if (publishers.findIndex((other) => other.fingerprint === fingerprint) < i) {
      problems.push({ path: `/publishers/${i}`, problem: "has a key that is there twice" });
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, publishers };
}

function publisherOf({
  name,
  publicKey: pem,
  packs,
}: Static<typeof PublishersFile>["publishers"][number]): Publisher | undefined {
  // Node would take the public half of a private key, which has no place in this file.
  if (pem.includes("PRIVATE")) return undefined;
  try {
    const publicKey = createPublicKey(pem);
    if (publicKey.asymmetricKeyType !== "ed25519") return undefined;
    return { name, publicKey, fingerprint: fingerprintOf(publicKey), ...(packs && { prefixes: packs }) };
  } catch {
    return undefined;
  }
}

function jsonIn(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw unusableInput(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const value = parsedJson(text);
  if (value === undefined) throw unusableInput(`${path} is not JSON`);
  return value;
}
