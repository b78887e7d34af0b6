/**
 * How a statement of one dialect names the run, its tenant, and the greatest character there is. Everything else about
 * deleting a run reads the same in both databases.
 */
interface Words {
  readonly run: string;
  readonly tenant: string;
  readonly last: string;
}

/** Where requests name a run, an annotation or a queue; what they were answered may quote what is to be forgotten. */
export const RUN_OPERATIONS = [
  "POST /v1/runs/",
  "POST /v1/host/assay/runs/",
  "POST /v1/host/assay/tapes/",
  "POST /v1/host/assay/evals/",
] as const;
export const ANNOTATION_OPERATIONS = ["POST /v1/host/assay/annotations/"] as const;
export const QUEUE_OPERATIONS = ["POST /v1/host/assay/queues/"] as const;

/** Removes everything about a run, in the order in which rows are locked everywhere; the run itself comes last. */
export function runDeletes(words: Words) {
  const { run, tenant } = words;
  const ofRun = `tenant = ${tenant} and run_id = ${run}`;
  const annotated = `tenant = ${tenant} and annotation_id in (select annotation_id from annotations where ${ofRun})`;
  return {
    deleteEffects: `delete from effects where run_id = ${run} and tenant = ${tenant}`,
    ...outcomeDeletes(words),
    deleteAnnotationChanges: `delete from annotation_changes where ${annotated}`,
    deleteAnnotationTexts: `delete from annotation_texts where ${annotated}`,
    deleteAnnotations: `delete from annotations where ${ofRun}`,
    deleteFeedback: `delete from run_feedback where ${ofRun}`,
    deleteLabels: `delete from run_labels where ${ofRun}`,
    deleteReviewsOfRun: `delete from queue_reviews where item_id in (select item_id from queue_items where ${ofRun})`,
    deleteItemsOfRun: `delete from queue_items where ${ofRun}`,
    deleteVotesOfRun: `delete from interrupt_votes
      where interrupt_id in (select interrupt_id from interrupts where run_id = ${run} and tenant = ${tenant})`,
    deleteInterrupts: `delete from interrupts where run_id = ${run} and tenant = ${tenant}`,
    deleteSidecar: `delete from tape_sidecars where ${ofRun}`,
    deleteTape: `delete from tapes where ${ofRun}`,
    deleteDocumentsOfRun: `delete from documents where run_id = ${run} and tenant = ${tenant}`,
    deleteArtifacts: `delete from artifacts where run_id = ${run} and tenant = ${tenant}`,
    // Events know no tenant of their own.
    deleteEvents: `delete from run_events
      where run_id = ${run} and exists (select 1 from runs where run_id = ${run} and tenant = ${tenant})`,
    deleteDeliveries: `delete from deliveries where run_id = ${run} and tenant = ${tenant}`,
    // The count goes with the last run of the family: a bound that a deletion resets would be none.
    deleteFamily: `delete from run_families where root_run_id in (
        select coalesce(root_run_id, run_id) from runs where run_id = ${run} and tenant = ${tenant})
      and not exists (select 1 from runs as other
        where other.root_run_id = run_families.root_run_id and other.run_id <> ${run})
      and not exists (select 1 from runs as root
        where root.run_id = run_families.root_run_id and root.run_id <> ${run})`,
    deleteRun: `delete from runs where run_id = ${run} and tenant = ${tenant}`,
  } as const;
}

/** By ranges of the primary key. An operation goes on after the id with a verb, a path, a workspace, or not at all. */
function outcomeDeletes({ run, tenant, last }: Words) {
  const names = (prefix: string) => `outcome.operation >= ${prefix} and outcome.operation < ${prefix} || ${last}
      and substr(outcome.operation, length(${prefix}) + 1, 1) in ('', ':', '/', ' ')`;
  const forget = (found: string) => `delete from idempotency where (tenant, operation, idem_key) in (
    select outcome.tenant, outcome.operation, outcome.idem_key from ${found})`;
  const ofRun = (path: string) =>
    forget(`idempotency as outcome where outcome.tenant = ${tenant} and ${names(`'${path}' || ${run}`)}`);
  const about = (table: string, prefix: string, more = "") =>
    forget(`${table} as named join idempotency as outcome on outcome.tenant = named.tenant and ${names(prefix)}
      where named.run_id = ${run} and named.tenant = ${tenant} ${more}`);
  return {
    // One statement for each: for a range or another SQLite would scan all rows of the tenant.
    deleteOutcomesOfRun: ofRun(RUN_OPERATIONS[0]),
    deleteOwnOutcomesOfRun: ofRun(RUN_OPERATIONS[1]),
    deleteOutcomesOfTape: ofRun(RUN_OPERATIONS[2]),
    deleteOutcomesOfEval: ofRun(RUN_OPERATIONS[3]),
    deleteOutcomesOfAnnotations: about("annotations", `'${ANNOTATION_OPERATIONS[0]}' || named.annotation_id`),
    // A request for the next item of a queue does not name the item; its recorded response does.
    // Each queue once: a run may have a thousand items in one.
    deleteOutcomesOfItems: about(
      `(select distinct tenant, run_id, queue_id from queue_items where run_id = ${run} and tenant = ${tenant})`,
      `'${QUEUE_OPERATIONS[0]}' || named.queue_id`,
      `and outcome.body like '%' || ${run} || '%'`,
    ),
  } as const;
}
