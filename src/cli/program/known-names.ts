import type { AgentInventory } from "../../protocol/agents/api.ts";
import type { SuiteInfo, SuitePage } from "../../protocol/evals/suite-api.ts";
import type { Client } from "../client/client.ts";
import type { NamedThings } from "./nearest.ts";

const PAGE = 200;

export async function agentIds(client: Client): Promise<string[]> {
  return (await client.json<AgentInventory>("/v1/agents")).agents.map(({ agentId }) => agentId);
}

/** Of the first page; a suggestion is no reason to read more. */
export async function workflowIds(client: Client): Promise<string[]> {
  const page = await client.json<{ workflows: { id: string }[] }>("/v1/workflows", { query: { limit: PAGE } });
  return page.workflows.map(({ id }) => id);
}

export async function suitesOf(client: Client, suiteId?: string): Promise<SuiteInfo[]> {
  const suites: SuiteInfo[] = [];
  let cursor: string | undefined;
  do {
    const page: SuitePage = await client.json("/v1/host/assay/suites", { query: { limit: PAGE, cursor, suiteId } });
    suites.push(...page.suites);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return suites;
}

export function namedAgent(client: Client, agentId: string): NamedThings {
  return { agent: { name: agentId, names: () => agentIds(client) } };
}

/** By `id@version`, or by the id alone. */
export function suiteNames(suites: readonly Pick<SuiteInfo, "suiteId" | "version">[], asked: string): string[] {
  const named = suites.map(({ suiteId, version }) => (asked.includes("@") ? `${suiteId}@${version}` : suiteId));
  return [...new Set(named)];
}
