import { afterAll, beforeAll, describe } from "vitest";
import { approvalScenarios } from "./approval-scenarios.ts";
import { approverScenarios } from "./approver-scenarios.ts";
import { auditScenarios } from "./audit-scenarios.ts";
import { authorizationScenarios } from "./authorization-scenarios.ts";
import { bundleScenarios } from "./bundle-scenarios.ts";
import { controlScenarios } from "./control-scenarios.ts";
import { discoveryScenarios } from "./discovery-scenarios.ts";
import { familyScenarios } from "./family-scenarios.ts";
import { feedbackOffScenarios, feedbackScenarios } from "./feedback-scenarios.ts";
import { governedScenarios } from "./governed-scenarios.ts";
import { OutsideHost } from "./host.ts";
import { raceScenarios } from "./race-scenarios.ts";
import { replayScenarios } from "./replay-scenarios.ts";
import { runScenarios } from "./run-scenarios.ts";
import { seamScenarios } from "./seam-scenarios.ts";
import { streamScenarios } from "./stream-scenarios.ts";
import { tokenScenarios } from "./token-scenarios.ts";
import { versionScenarios } from "./version-scenarios.ts";
import { waitingScenarios } from "./waiting-scenarios.ts";
import { deliveryScenarios, webhookScenarios } from "./webhook-scenarios.ts";

const SURFACES: readonly ((host: () => OutsideHost) => void)[] = [
  discoveryScenarios,
  versionScenarios,
  runScenarios,
  controlScenarios,
  streamScenarios,
  approvalScenarios,
  waitingScenarios,
  approverScenarios,
  governedScenarios,
  tokenScenarios,
  raceScenarios,
  familyScenarios,
  authorizationScenarios,
  feedbackScenarios,
  replayScenarios,
  bundleScenarios,
  webhookScenarios,
  auditScenarios,
  seamScenarios,
];

/** What an OpenWOP 1.x suite would try from outside, surface by surface, on one host. */
export function conformance(name: string, database: () => Promise<readonly string[]>): void {
  describe(`a host on ${name}, seen from outside`, () => {
    let host: OutsideHost;
    beforeAll(async () => {
      host = await OutsideHost.start(await database());
    }, 60_000);
    afterAll(() => host.stop());

    for (const scenarios of SURFACES) scenarios(() => host);
    deliveryScenarios(database);
    feedbackOffScenarios(database);
  });
}
