import type { DebugBundle } from "../../protocol/runs/bundle-api.ts";
import { connect } from "../client/client.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import type { RUN_BUNDLE_FLAGS } from "./bundle-commands.ts";

/** The document is JSON anyway; with --output, --json is about what was written. */
export async function runBundle(call: Call<typeof RUN_BUNDLE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [runId = ""] = args;
  if (flags.output !== undefined) refuseExisting(flags.output, flags.force);
  const text = await (await connect(config).runs.bundle(runId).asResponse()).text();
  const bundle: DebugBundle = JSON.parse(text);
  const { truncatedReason } = bundle;
  if (flags.output === undefined) {
    io.out(text);
  } else {
    await writeWhole(flags.output, [`${text}\n`], { ownerOnly: true });
    const events = bundle.events.length;
    const annotations = bundle.annotations.length;
    if (json)
      io.out(JSON.stringify({ file: flags.output, events, annotations, ...(truncatedReason && { truncatedReason }) }));
    else io.out(`${flags.output}: ${formatCount(events, "event")}, ${formatCount(annotations, "annotation")}`);
  }
  if (truncatedReason !== undefined) io.err(`assay: the bundle does not hold everything: ${truncatedReason}.`);
}
