import { AUTHENTICATED, BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { CreateKeyRequest, CreateKeyResponse, KeyInfo, ListKeysResponse, WhoAmIResponse } from "../runs/api.ts";

/** API keys. */
export const KEY_OPERATIONS = {
  whoAmI: {
    method: "GET",
    path: "/v1/host/assay/whoami",
    tag: "keys",
    summary: "The principal and the scopes of the API key.",
    access: "authenticated",
    success: { status: 200, schema: WhoAmIResponse },
    errors: [...AUTHENTICATED],
  },
  createKey: {
    method: "POST",
    path: "/v1/host/assay/keys",
    tag: "keys",
    summary: "Make an API key in the caller's tenant. The key is shown once.",
    access: "keys:manage",
    body: CreateKeyRequest,
    idempotent: "one",
    // The answer is the key itself: it is recorded only as what the caller's own API key opens.
    sealsReply: true,
    success: { status: 201, schema: CreateKeyResponse },
    errors: [...PROTECTED, ...BODY, ...KEYED, "tenant_key_limit", "document_conflict"],
  },
  listKeys: {
    method: "GET",
    path: "/v1/host/assay/keys",
    tag: "keys",
    summary: "The tenant's API keys, without the keys themselves.",
    access: "keys:manage",
    success: { status: 200, schema: ListKeysResponse },
    errors: [...PROTECTED],
  },
  revokeKey: {
    method: "POST",
    path: "/v1/host/assay/keys/{keyId}:revoke",
    tag: "keys",
    summary: "Revoke an API key now.",
    access: "keys:manage",
    idempotent: "one",
    success: { status: 200, schema: KeyInfo },
    errors: [...PROTECTED, ...KEYED, "not_found"],
  },
} as const satisfies Record<string, Operation>;
