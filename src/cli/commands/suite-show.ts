import { connect } from "../client.ts";
import type { Call } from "../command.ts";

/** The author's own text, byte for byte. */
export async function suiteShow({ args: [suite = ""], config, io }: Call): Promise<undefined> {
  const text = await connect(config).text(`/v1/host/assay/suites/${encodeURIComponent(suite)}`);
  await io.write(text.endsWith("\n") ? text : `${text}\n`);
}
