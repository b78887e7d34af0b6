const hex = (length: number) => "0123456789abcdef".repeat(20).slice(0, length);
const mixed = (length: number) => "aB3dE6gH9jK2mN5p".repeat(20).slice(0, length);
const letters = (length: number) => "aBcDeFgHiJkLmNoP".repeat(20).slice(0, length);
/** As long as the rule wants it: one more than a multiple of three. */
const account = JSON.stringify({ email: "a@b.example", secretKey: mixed(40), srpX: hex(64), userAuth: {} });

/** A secret for each pattern of the rule set that is in use. Made up, every one. */
export const RULE_SET_EXAMPLES: Readonly<Record<string, string>> = {
  "aws secret": `aws_secret_access_key = "${mixed(40)}"`,
  "private key": `-----BEGIN RSA PRIVATE KEY-----\nMII${mixed(120)}\n-----END RSA PRIVATE KEY-----`,
  "github in a url": `https://${mixed(40)}:x-oauth-basic@github.com/`,
  npm: `npm_${mixed(36)}`,
  slack: `xoxb-1-${mixed(12)}-${mixed(12)}`,
  "slack webhook": `https://hooks.slack.com/services/T${mixed(8)}/B${mixed(8)}/${mixed(24)}`,
  sendgrid: `SG.${mixed(22)}.${mixed(43)}`,
  shopify: `shpat_${hex(32)}`,
  github: `ghp_${mixed(36)}`,
  "github fine-grained": `github_pat_${mixed(82)}`,
  gitlab: `glpat-${mixed(20)}`,
  "grafana cloud": `glc_${mixed(64)}==`,
  "grafana service account": `glsa_${mixed(32)}_${hex(8)}`,
  openai: `sk-${mixed(20)}T3BlbkFJ${mixed(20)}`,
  anthropic: `sk-ant-api03-${mixed(93)}AA`,
  groq: `gsk_${mixed(52)}`,
  huggingface: `hf_${letters(34)}`,
  linear: `lin_api_${mixed(40)}`,
  notion: `ntn_12345678901${mixed(35)}`,
  "1password": `ops_${Buffer.from(account).toString("base64")}`,
  "vault service": `hvs.${mixed(95)}`,
  "vault batch": `hvb.${mixed(140)}`,
  "vault recovery": `hvr.${mixed(95)}`,
  vercel: `vcp_${mixed(24)}`,
  databricks: `dapi${hex(32)}`,
  docker: `dckr_pat_${mixed(27)}`,
  figma: `figd_${mixed(40)}`,
};
