// @ts-check
import { get, KEYS } from "./fill.js";

const [owner] = KEYS.map(({ key }) => key);

/**
 * What a server answers about a filled database, by path. Nothing in it depends on when it is asked.
 * @param {string} url
 * @param {Record<string, string>} ids
 * @returns {Promise<Record<string, unknown>>}
 */
export async function answers(url, ids) {
  const { hello, greeted, triaged, cancelled, branch, replay, approved, halfApproved, waiting } = ids;
  const runs = [hello, greeted, triaged, cancelled, branch, replay, approved, halfApproved, waiting, ids["taped"]];
  const paths = [
    ...runs.flatMap((id) => [`/v1/runs/${id}`, `/v1/runs/${id}/events/poll`, `/v1/runs/${id}/annotations`]),
    `/v1/runs/${replay}:diff?against=${triaged}`,
    "/v1/workflows",
    "/v1/host/assay/annotations",
    "/v1/host/assay/feedback/summary?groupBy=workflow",
    "/v1/host/assay/gates/summary",
    "/v1/host/assay/inbox",
    "/v1/host/assay/queues",
    "/v1/host/assay/roles",
    "/v1/host/assay/principals",
    "/v1/host/assay/webhooks",
    "/v1/host/assay/tapes",
    `/v1/host/assay/reviews/${ids["session"]}`,
    "/v1/agents",
    `/v1/agents/${ids["agent"]}/deployments`,
    `/v1/host/assay/promotion-policies/${ids["agent"]}`,
    `/v1/host/assay/suites/${ids["suite"]}`,
    ...[ids["evaluated"], ids["compared"]].flatMap((id) => [
      `/v1/runs/${id}/eval-summary`,
      `/v1/host/assay/evals/${id}/report`,
    ]),
    "/v1/host/assay/eval-baselines",
  ];
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const path of paths) found[path] = await get(url, path, owner);
  return found;
}
