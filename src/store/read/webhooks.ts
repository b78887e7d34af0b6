import type { Kysely } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { WebhookRecord } from "../port/gates.ts";
import type { Tables } from "../schema/tables.ts";
import { webhooks } from "../schema/webhooks.ts";

export async function listWebhooks(db: Kysely<Tables>, visible: Visibility): Promise<WebhookRecord[]> {
  const rows = await visibleWebhooks(db, visible).orderBy("webhook_id").execute();
  return rows.map(webhooks.toRecord);
}

export async function readWebhook(
  db: Kysely<Tables>,
  visible: Visibility,
  webhookId: string,
): Promise<WebhookRecord | undefined> {
  const row = await visibleWebhooks(db, visible).where("webhook_id", "=", webhookId).executeTakeFirst();
  return row && webhooks.toRecord(row);
}

function visibleWebhooks(db: Kysely<Tables>, { tenant, workspace }: Visibility) {
  return db
    .selectFrom("webhooks")
    .selectAll()
    .where("tenant", "=", tenant)
    .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""));
}
