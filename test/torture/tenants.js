// @ts-check

/**
 * @typedef {{ principal: string, key: string }} Voter
 *
 * @typedef {object} Tenant
 * @property {string} tenant
 * @property {string} key of its owner, who starts every run
 * @property {readonly Voter[]} approvers each a principal of its own, with the role that gates ask for
 * @property {Voter} outsider may answer gates in general, but none that names others
 */

/** The same names in every tenant: a gate must not mistake one for the other. */
export const APPROVERS = ["p0", "p1", "p2", "p3"];
const OUTSIDER = "r0";

/** @type {readonly Tenant[]} */
export const TENANTS = ["t1", "t2"].map((tenant) => ({
  tenant,
  key: `torture-key-of-${tenant}-0001`,
  approvers: APPROVERS.map((principal) => voter(tenant, principal)),
  outsider: voter(tenant, OUTSIDER),
}));

/** What `--keys` is given. */
export const KEYS = TENANTS.flatMap(({ tenant, key, approvers, outsider }) => [
  { key, tenant, principal: "torture", roles: ["owner"], scopes: ["*"] },
  ...approvers.map((one) => ({ ...one, tenant, roles: ["admin"], scopes: ["*"] })),
  { ...outsider, tenant, roles: ["reviewer"], scopes: ["*"] },
]);

/**
 * @param {string} tenant
 * @param {string} principal
 * @returns {Voter}
 */
function voter(tenant, principal) {
  return { principal, key: `torture-key-of-${principal}-in-${tenant}` };
}
