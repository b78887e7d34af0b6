import { describe, expect, test } from "vitest";
import type { Discovery } from "./discovery.ts";
import { advertises } from "./discovery.ts";

const document = {
  runtimeCapabilities: ["chat.sendPrompt"],
  feedback: { supported: true, targets: ["run"] },
  replay: { supported: false },
  agents: {
    orchestrator: true,
    memoryBackends: ["long-term"],
    liveRuntime: { supported: true, structuredOutput: false },
  },
  extensions: { assay: { routes: "/v1/host/assay" } },
} as unknown as Discovery;

describe("what discovery says", () => {
  test.each([
    "feedback",
    "host.feedback",
    "feedback.supported",
    "feedback.targets.run",
    "agents.orchestrator",
    "agents.liveRuntime",
    "agents.memoryBackends.long-term",
    "chat.sendPrompt",
  ])("includes %s", (capability) => {
    expect(advertises(document, capability)).toBe(true);
  });

  test.each([
    "replay",
    "agents",
    "agents.liveRuntime.structuredOutput",
    "agents.memoryBackends",
    "agents.memoryBackends.other",
    "feedback.targets",
    "extensions.assay",
    "extensions.assay.routes",
    "feedback.supported.more",
    "constructor",
    "__proto__.supported",
    "host.",
    "",
  ])("does not include %j", (capability) => {
    expect(advertises(document, capability)).toBe(false);
  });
});
