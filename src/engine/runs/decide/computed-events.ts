import type { EventType } from "../../../protocol/events.ts";
import { CHAIN_EVENT } from "../../../protocol/runs/orchestrator-events.ts";

/** What the engine comes to by itself when it executes a run again. Everything else was brought about from outside. */
export const COMPUTED: ReadonlySet<EventType> = new Set<EventType>([
  ...(["run.completed", "run.failed", "cap.breached", "workflow.loopback-limit", "assay.loop.entered"] as const),
  ...(["node.started", "node.completed", "node.failed", "node.retried", "node.skipped", "assay.timer.set"] as const),
  ...(["variable.changed", "channel.written", "assay.channel.opened", "version.pinned"] as const),
  ...(["interrupt.requested", "approval.requested", "clarification.requested", "node.suspended"] as const),
  ...(["assay.child.started", "node.dispatched", "assay.cost.recorded", CHAIN_EVENT] as const),
  ...(["core.workflowChain.confidence-escalated", "model.capability.insufficient"] as const),
]);
