import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import type { SuiteInfo } from "../../protocol/evals/suite-api.ts";
import type { Client } from "../client/client.ts";
import { printable } from "../output/printable.ts";

/** A name that was given on the command line, and how to list the names that exist. */
export interface Named {
  readonly name: string;
  names(): Promise<readonly string[]>;
  /** The next step where no name is near. */
  readonly hint?: string;
}

/** By the word that errors have for the kind of thing, like `agent`. */
type NamedThings = Readonly<Record<string, Named>>;

/**
 * The answer to a request. An error that a thing does not exist gets the name that was given and the nearest one that exists. Names
 * are listed only then; when that fails too, the first error stays.
 */
export async function orNearest<T>(asked: PromiseLike<T>, things: NamedThings): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const what = error instanceof AppError && error.code === "not_found" ? error.details["what"] : undefined;
    const thing = typeof what === "string" && Object.hasOwn(things, what) ? things[what] : undefined;
    if (!(error instanceof AppError) || thing === undefined) throw error;
    throw await withNearest(error, String(what), thing);
  }
}

async function withNearest(error: AppError, what: string, { name, names, hint }: Named): Promise<AppError> {
  const nearest = await names().then(
    (known) => closestTo(name, known),
    () => undefined,
  );
  const named = new AppError("not_found", { ...error.details, ...(nearest === undefined ? {} : { nearest }) });
  const first = error.message.replace(`There is no ${what} here`, () => `There is no ${what} ${printable(name)} here`);
  const next = nearest === undefined ? hint : `Did you mean ${printable(nearest)}?`;
  named.message = next === undefined ? first : `${first} ${next}`;
  return named;
}

const PAGE = 200;

export async function agentIds(client: Client): Promise<string[]> {
  return (await client.agents.list()).agents.map(({ agentId }) => agentId);
}

/** Of the first page; a suggestion is no reason to read more. */
export async function workflowIds(client: Client): Promise<string[]> {
  const page = await client.workflows.list({ limit: PAGE });
  return page.workflows.map(({ id }) => id);
}

export function suitesOf(client: Client, suiteId?: string): Promise<SuiteInfo[]> {
  return client.suites.list({ limit: PAGE, suiteId }).all();
}

export function namedAgent(client: Client, agentId: string): NamedThings {
  return { agent: { name: agentId, names: () => agentIds(client) } };
}

/** By `id@version`, or by the id alone. */
export function suiteNames(suites: readonly Pick<SuiteInfo, "suiteId" | "version">[], asked: string): string[] {
  const named = suites.map(({ suiteId, version }) => (asked.includes("@") ? `${suiteId}@${version}` : suiteId));
  return [...new Set(named)];
}
