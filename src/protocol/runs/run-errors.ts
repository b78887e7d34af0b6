import { closed, JsonObject, Name, type Static, Type } from "../schema.ts";

/**
 * Codes that appear inside events and snapshots (`error.code`), never as an HTTP answer of their own.
 * `docs/errors.md` lists them too.
 */
export const RUN_ERRORS = {
  capability_not_provided: "A node requires a runtime capability that this host does not provide.",
  recursion_limit_exceeded: "The run executed more nodes than its limit.",
  run_timeout: "The run lasted longer than its limit.",
  loop_limit_exceeded: "A loop went round more often than the workflow or the run allows.",
  node_failed: "A core.fail node was reached.",
  node_input_invalid: "A node's inputs or config could not be resolved to valid values.",
  node_type_unknown: "The host has no executor for this node type.",
  node_threw: "A node's executor raised an unexpected error.",
  node_output_invalid: "A node returned something that is not JSON.",
  condition_failed:
    "The condition of an edge that decides what comes next could not be evaluated for the values there were.",
  run_too_large: "The run would hold more than the host can keep in memory.",
  run_dead_lettered: "The host could not execute the run, however often it tried.",
  channel_access_denied: "The node is not among the channel's writers.",
  channel_schema_violation: "The value does not match the channel's schema.",
  channel_schema_breaking_change: "The write's schema version is neither current nor listed in compatibleWith.",
  version_out_of_range: "A pinned version is older than the code still supports.",
  engine_version_mismatch: "The run was written by a newer engine.",
  interrupt_invalid: "A node asked for an interrupt that is not a valid one.",
  interrupt_timeout: "An interrupt was not answered, or not by as many as it asks for, before its deadline.",
  approval_rejected: "A gate was rejected, and no edge of the workflow leads on from a rejection.",
  approval_refined: "A gate asked for a refinement, and no edge of the workflow leads back for one.",
  child_failed: "The sub-workflow's run failed, or ended at a gate that asked for a refinement.",
  child_cancelled: "The sub-workflow's run was cancelled.",
  child_not_started: "The sub-workflow's run could not be started.",
  orchestrator_decision_missing: "A core.dispatch was reached before any supervisor had decided something.",
  orchestrator_decision_invalid:
    "A supervisor decided something that is no decision, or named a workflow that is none of its workers.",
  fan_out_unsupported: "A supervisor decided on several workers, and its core.dispatch takes one at a time.",
  agent_not_configured: "A node asks an agent that this host cannot ask.",
  agent_not_installed: "A node asks an agent that is not installed, or not in this version.",
  deployment_not_applied: "A deployment was approved, and its requester did not request it again in time.",
  no_active_deployment: "A node asks an agent of which no version is active, or none on the channel that it names.",
  agent_refused: "An agent declined what it was asked.",
  agent_unreachable: "An agent, its model or its tools could not be reached, however often it was tried.",
  agent_rate_limited: "An agent's provider was asked too often.",
  agent_timeout: "An agent did not answer in time.",
  agent_crashed: "An agent's program ended with an error.",
  agent_output_too_large: "An agent answered more than it may.",
  handoff_task_schema_violation: "An agent was asked something that its task schema does not allow.",
  handoff_return_schema_violation: "An agent answered something that its return schema does not allow.",
  agent_output_invalid: "An agent answered something that is no JSON, or cannot be used for another reason.",
  envelope_refusal: "A model declined to answer in the shape it was asked for.",
  envelope_payload_invalid: "A model never answered in the shape it was asked for.",
  envelope_truncation_unrecoverable: "A model was cut off before its answer was whole, with however much room.",
  agent_error: "An agent could not answer for another reason.",
  eval_judge_changed: "The judge is not the one that an evaluation or a calibration was started with.",
  judge_calibration_incomplete: "A judge gave no verdict on too many of the outputs it was calibrated with.",
  judge_budget_exceeded:
    "A calibration spent its budget, or what it spends is not known, before the judge was asked about all outputs.",
  eval_budget_exceeded:
    "An evaluation spent its budget, or what it spends is not known, before all of its tasks were done.",
  eval_suite_changed: "The suite of an evaluation is not the one that it was started with.",
  eval_agent_changed: "The agent of an evaluation is not installed as it was when the evaluation was started.",
  secret_not_found: "A node asked for a secret that this host does not have.",
  subworkflow_depth_exceeded: "Sub-workflows are nested deeper than the host allows.",
  descendant_limit: "The root run has as many runs below it as this host allows.",
  tenant_run_limit: "The tenant has as many runs that have not ended as this host allows.",
  replay_source_missing: "The replayed run has no record of what a node did or was answered; it is not repeated.",
  effect_in_doubt: "An external effect was claimed before a crash and its outcome is unknown; it is not repeated.",
} as const;

export type RunErrorCode = keyof typeof RUN_ERRORS;

/** An error as events and snapshots carry it. */
export const RunErrorShape = Type.Object(
  {
    code: Name,
    message: Name,
    details: Type.Optional(JsonObject),
    retryable: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type RunErrorShape = Static<typeof RunErrorShape>;
