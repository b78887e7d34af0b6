import { connect } from "../client/client.ts";
import { escaped } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { orNearest, suiteNames, suitesOf } from "../program/nearest-name.ts";

/** The author's own text. Controls and marks of direction in it are escaped, which leaves its value and its hash as they are. */
export async function suiteShow({ args: [suite = ""], config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const names = async () => suiteNames(await suitesOf(client), suite);
  const asked = client.suites.get(suite).asResponse();
  const response = await orNearest(asked, { suite: { name: suite, names } });
  const text = await response.text();
  await io.write(escaped(text.endsWith("\n") ? text : `${text}\n`));
}
