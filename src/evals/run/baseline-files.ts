import { refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { checkBaselineFile } from "../../formats/evals/baseline-file.ts";
import { AppError } from "../../protocol/errors.ts";
import type { BaselineFile } from "../../protocol/evals/baseline-file.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { DocumentId, Documents } from "../../store/port/documents.ts";

/** Keeps a baseline that came in a file under its digest: what an evaluation was compared with stays what it was. */
export async function keepBaselineFile(
  host: Pick<Host, "store" | "nowMs" | "scrubber">,
  visible: Visibility,
  sha256: string,
  value: unknown,
): Promise<void> {
  const checked = checkBaselineFile(value);
  if (!checked.ok) throw refuse(`the baseline file cannot be taken: ${checked.problem}`);
  if (checked.file.sha256 !== sha256) throw refuse("the digest in the path is not that of the file");
  // The digest covers every character, so secrets cannot be removed from a file.
  if (host.scrubber.scrubValue(checked.file) !== checked.file) throw refuse("the baseline file holds a secret");
  const { tenant, workspace } = visible;
  const committed = await host.store.commit({
    tenant,
    documents: [
      {
        type: "keep",
        document: {
          ...fileId(visible, sha256),
          ...(workspace === undefined ? {} : { workspace }),
          revision: 1,
          atMs: host.nowMs(),
          body: JSON.stringify(checked.file),
        },
      },
    ],
  });
  if (!committed.ok) throw refused(committed.refusal);
}

export async function keptBaselineFile(
  store: Pick<Documents, "readDocument">,
  visible: Visibility,
  sha256: string,
): Promise<BaselineFile | undefined> {
  const found = await store.readDocument(fileId(visible, sha256));
  return found && (JSON.parse(found.body) as BaselineFile);
}

/** File ids share the space of names and never equal one: names begin with a bracket. */
function fileId({ tenant, workspace }: Visibility, sha256: string): DocumentId {
  return { tenant, kind: "baseline", key: `file/${workspace ?? ""}/${sha256}` };
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
