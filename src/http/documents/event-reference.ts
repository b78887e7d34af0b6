import { changesSnapshot, EVENTS, type EventType } from "../../protocol/events.ts";

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** The page `docs/events.md`, made from the catalogue. */
export function eventReference(): string {
  const rows = Object.entries(EVENTS).map(([type, { tier, summary, payload }]) => {
    const stream = tier !== "updates" && changesSnapshot(type) ? `${tier}, values` : tier;
    return `| \`${type as EventType}\` | ${fields(payload as ObjectSchema)} | ${stream} | ${summary} |`;
  });
  return `${HEAD}${rows.join("\n")}\n`;
}

function fields({ properties = {}, required = [] }: ObjectSchema): string {
  const names = Object.keys(properties).map((name) => (required.includes(name) ? `\`${name}\`\\*` : `\`${name}\``));
  return names.length === 0 ? "none" : names.join(", ");
}

const HEAD = `# Events

<!-- Made from src/protocol/events.ts by \`npm run docs\`. -->

Every event has the same envelope:

| Field | Meaning |
|---|---|
| \`eventId\` | unique, sorts by time |
| \`runId\` | the run it belongs to |
| \`sequence\` | its place in the run's log: 0, 1, 2 … without a gap; also the \`id\` of its SSE frame |
| \`type\`, \`payload\` | below |
| \`timestamp\` | when it was recorded, ISO 8601 |
| \`nodeId\` | on events about a node |
| \`schemaVersion\`, \`engineVersion\` | how to read it |

Types that begin with \`assay.\` are Assay's own: they make the log complete enough to rebuild everything from it, and are
shown in \`debug\` streams only. Readers ignore types they do not know.

\`*\` marks fields that are always there. *Stream* says which modes carry the event: \`updates\` events are also in \`debug\` and
cause a snapshot in \`values\`, and so do the few that say \`values\` themselves. Payloads hold no durations, so that two
executions of the same work can be compared.

| Type | Payload | Stream | Meaning |
|---|---|---|---|
`;
