import { matches, type Static, Type } from "../../protocol/schema.ts";
import type { Change } from "../port/store.ts";
import { prepared } from "./prepared.ts";
import type { Statement } from "./statements.ts";

/** The channel on which all processes of this database publish their commits. */
export const CHANNEL = "assay_changed";

/** For a listener that may have missed something. */
export const EVERYTHING: Change = {
  runIds: "all",
  work: true,
  keys: true,
  webhooks: true,
  deliveries: true,
  annotations: true,
  queues: true,
};

/** PostgreSQL refuses payloads of 8000 bytes and more. */
const PAYLOAD_MAX_BYTES = 7_900;

const Notification = Type.Object({
  sender: Type.String(),
  work: Type.Boolean(),
  keys: Type.Boolean(),
  webhooks: Type.Boolean(),
  deliveries: Type.Boolean(),
  annotations: Type.Boolean(),
  queues: Type.Boolean(),
  runIds: Type.Union([Type.Literal("all"), Type.Array(Type.String())]),
});
type Notification = Static<typeof Notification>;

const NOTIFY = prepared("notify", `select pg_notify('${CHANNEL}', $1)`);

/** Notifications carry ids only: listeners read the rows. */
export function notify(sender: string, { runIds, ...topics }: Change): Statement {
  const notification: Notification = { sender, ...topics, runIds: runIds === "all" ? "all" : [...runIds] };
  let payload = JSON.stringify(notification);
  if (Buffer.byteLength(payload) > PAYLOAD_MAX_BYTES) payload = JSON.stringify({ ...notification, runIds: "all" });
  return { ...NOTIFY, values: [payload] };
}

/** Undefined for this process's own notifications and for foreign ones. */
export function changeFrom(payload: string, self: string): Change | undefined {
  const notification = parsed(payload);
  if (!matches(Notification, notification) || notification.sender === self) return undefined;
  const { sender: _, ...change } = notification;
  return change;
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}
