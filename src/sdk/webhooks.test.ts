import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "./webhooks.ts";

const secret = "whsec_0123456789abcdef";
const body = '{"type":"run.completed","runId":"run-1","event":{"sequence":3}}';

function signed(given: { readonly body?: string; readonly at?: number; readonly secret?: string } = {}) {
  const timestamp = String(given.at ?? Math.floor(Date.now() / 1000));
  const digest = createHmac("sha256", given.secret ?? secret)
    .update(`${timestamp}.${given.body ?? body}`)
    .digest("hex");
  return {
    "x-openwop-timestamp": timestamp,
    "x-openwop-signature": `sha256=${digest}`,
    "x-openwop-signature-algorithm": "v1",
    "x-openwop-delivery-id": "dlv-1",
  };
}

describe("a delivery", () => {
  test("that is signed and recent is what it says", async () => {
    const expected = { type: "run.completed", runId: "run-1", deliveryId: "dlv-1", event: { sequence: 3 } };
    expect(await verifyWebhook({ secret, headers: signed(), body })).toEqual(expected);
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook({ secret, headers: new Headers(signed()), body: bytes })).toEqual(expected);
  });

  test.each([
    ["of another secret", { headers: signed({ secret: "another" }) }],
    ["of another body", { headers: signed({ body: "{}" }) }],
    ["that is old", { headers: signed({ at: Date.now() / 1000 - 301 }) }],
    ["of a later time than is", { headers: signed({ at: Date.now() / 1000 + 301 }) }],
    ["without a time", { headers: { ...signed(), "x-openwop-timestamp": "soon" } }],
    ["without a signature", { headers: { ...signed(), "x-openwop-signature": undefined } }],
    ["with a signature that is none", { headers: { ...signed(), "x-openwop-signature": "sha256=zz" } }],
    ["of another algorithm", { headers: { ...signed(), "x-openwop-signature-algorithm": "v2" } }],
  ])("%s is refused", async (_, { headers }) => {
    await expect(verifyWebhook({ secret, headers, body })).rejects.toBeInstanceOf(WebhookVerificationError);
  });
});
