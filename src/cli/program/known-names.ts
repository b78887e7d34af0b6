import type { SuiteInfo } from "../../protocol/evals/suite-api.ts";
import type { Client } from "../client/client.ts";
import type { NamedThings } from "./nearest.ts";

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
