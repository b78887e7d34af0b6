/** What `@assay/sdk/webhooks` exports: deciding whether a delivery is genuine. */

/** What a delivery says. */
export interface Delivery {
  readonly type: string;
  readonly runId: string;
  readonly workspaceId?: string;
  readonly event: {
    readonly eventId: string;
    readonly runId: string;
    readonly type: string;
    readonly payload: unknown;
    readonly timestamp: string;
    readonly sequence: number;
    readonly nodeId?: string;
  };
}

export interface ReceivedDelivery {
  readonly secret: string;
  /** As they came: `request.headers` of Node, or `Headers`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came, before anything parsed them. */
  readonly body: string | Uint8Array;
  /** How old a delivery may be. 300. */
  readonly toleranceSeconds?: number;
}

/** Why a delivery is not taken. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

/** The delivery, when it is signed with the secret and recent; throws `WebhookVerificationError` otherwise. */
export async function verifyWebhook(received: ReceivedDelivery): Promise<Delivery & { readonly deliveryId: string }> {
  const { secret, body, toleranceSeconds = 300 } = received;
  const timestamp = header(received, "x-openwop-timestamp");
  const signature = header(received, "x-openwop-signature");
  const algorithm = header(received, "x-openwop-signature-algorithm");
  if (algorithm !== "v1") throw new WebhookVerificationError("The signature is of an algorithm that is not known");
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds)) throw new WebhookVerificationError("The delivery is too old, or has no time");
  const encoder = new TextEncoder();
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["verify"]);
  // Compares in constant time.
  const genuine = await crypto.subtle.verify("HMAC", key, bytesOf(signature), signed);
  if (!genuine) throw new WebhookVerificationError("The signature is not one of this secret");
  return { ...JSON.parse(new TextDecoder().decode(bytes)), deliveryId: header(received, "x-openwop-delivery-id") };
}

function header({ headers }: ReceivedDelivery, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== "string") throw new WebhookVerificationError(`The delivery has no header ${name}`);
  return value;
}

/** Of `sha256=` and digits; of anything else the signature of nothing. */
function bytesOf(signature: string): Uint8Array<ArrayBuffer> {
  const [, digits = ""] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
