/** Who asks. Principals of `t1` differ in role and group; the last is of another tenant. */
export const OWNER = "conformance-owner-key";
export const READER = "conformance-reader-key";
export const STRANGER = "conformance-other-tenant-key";
/** An owner's key whose own scopes do not reach to answering. */
export const NARROW = "conformance-narrow-key";
/** Known to the host, with a role that it does not know. */
export const UNSEEDED = "conformance-unseeded-key";
/** In group `release`. */
export const VERA = "conformance-vera-key";
export const ROB = "conformance-rob-the-reviewer-key";
export const AMY = "conformance-amy-the-admin-key";
export const ADAM = "conformance-adam-the-admin-key";
/** The same principal as `ADAM`. */
export const ADAM_AGAIN = "conformance-adam-other-key";

/** The role that names `approvals:relay`; the host defines it once it has started. */
export const RELAYER = "relayer";

export const KEYS = [
  { key: OWNER, tenant: "t1", principal: "owner", roles: ["owner", RELAYER], scopes: ["*", "approvals:relay"] },
  { key: READER, tenant: "t1", principal: "reader", roles: ["viewer"], scopes: ["*"] },
  { key: NARROW, tenant: "t1", principal: "narrow", roles: ["owner"], scopes: ["runs:read", "runs:create"] },
  { key: UNSEEDED, tenant: "t1", principal: "una", roles: ["archbishop"], scopes: ["*"] },
  { key: VERA, tenant: "t1", principal: "vera", roles: ["reviewer"], groups: ["release"], scopes: ["*"] },
  { key: ROB, tenant: "t1", principal: "rob", roles: ["reviewer"], scopes: ["*"] },
  { key: AMY, tenant: "t1", principal: "amy", roles: ["admin"], scopes: ["*"] },
  { key: ADAM, tenant: "t1", principal: "adam", roles: ["admin"], scopes: ["*"] },
  { key: ADAM_AGAIN, tenant: "t1", principal: "adam", roles: ["admin"], scopes: ["*"] },
  { key: STRANGER, tenant: "t2", principal: "stranger", roles: ["owner"], scopes: ["*"] },
];
