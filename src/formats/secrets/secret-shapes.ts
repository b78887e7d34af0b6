/**
 * The shapes of secrets. A shape decides alone: there is no test of randomness and no list of well-known examples, since every exception is
 * a way around the rule.
 *
 * Every pattern takes time in proportion to the text, whatever the text: a part that repeats without a bound either makes the match or ends
 * before the next place where a match could begin.
 */
export interface SecretShape {
  readonly id: string;
  /** Matches every text with this secret; tried first, because it is cheap. */
  readonly trigger: RegExp;
  /** Global. The whole match is removed except the group `kept`. */
  readonly pattern: RegExp;
  readonly example: string;
}

/**
 * A secret does not begin within a word: a task-force is not a key. It may begin after any other character, and after one that is written
 * with letters, as in JSON and URLs.
 */
const B = "(?:(?<![A-Za-z0-9])|(?<=\\\\[nrtbf]|\\\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}))";

/**
 * A characteristic prefix with enough characters after it. The prefix is matched first and the character on its left after that: engines
 * search for literal text ten times faster than they try a look-behind at every place.
 */
function prefixed(prefix: string, rest: string): RegExp {
  return new RegExp(`${prefix}(?<=${B}${prefix})${rest}`, "g");
}

const SHAPES: readonly SecretShape[] = [
  {
    id: "private-key",
    trigger: /-----BEGIN /i,
    // A key that was cut off has no end; the match then goes to the end of the text.
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
    example: "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3\n-----END RSA PRIVATE KEY-----",
  },
  {
    id: "url-password",
    trigger: /:\/\//,
    // Up to the last @ of the authority, as browsers read it. User names that are mail addresses have an @ too.
    pattern: /(?<kept>:\/\/[^\s/?#:"'<>\\]*:)[^\s/?#"'<>\\]+(?=@)/g,
    example: "postgres://assay:hunter2@db.internal/assay",
  },
  {
    id: "slack-webhook",
    trigger: /hooks\.slack/i,
    pattern: /(?<kept>hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/)[\w/-]{8,}/gi,
    example: "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
  },
  {
    id: "discord-webhook",
    trigger: /api\/webhooks\//i,
    pattern: /(?<kept>discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{1,30}\/)[\w-]{20,}/gi,
    example: "https://discord.com/api/webhooks/123456789012345678/aB3dE6gH9jK2mN5paB3dE6gH9jK2mN5p",
  },
  {
    id: "otpauth",
    trigger: /otpauth/i,
    // The secret of one-time passwords; with several accounts, all of them.
    pattern: /(?<kept>otpauth(?:-migration)?:\/\/)[^\s"'<>()\\]+/gi,
    example: "otpauth://totp/Example:ada@example.org?secret=JBSWY3DPEHPK3PXP&issuer=Example",
  },
  {
    id: "azure-account",
    trigger: /Key=/,
    pattern: /(?<kept>(?:Account|SharedAccess)Key=)[A-Za-z0-9+/=]{40,}/g,
    example: `AccountKey=${"aB3dE6gH9jK2mN5p".repeat(5)}aB3dE6==`,
  },
  {
    id: "authorization-header",
    trigger: /authorization/i,
    pattern:
      /(?<kept>authorization(?:\\?["'])?\s{0,64}[:=]\s{0,64}(?:\\?["'])?(?:bearer|basic|token)\s{1,64})[^\s"',;\\()[\]{}<>]+/gi,
    example: "Authorization: Basic dXNlcjpwYXNz",
  },
  {
    id: "bearer",
    trigger: /bearer/i,
    // In sentences other words follow "bearer" too; those are short, or have no digit.
    pattern: /(?<kept>\bbearer[\s:=]{1,64})(?:[\w.~+/=-]{20,}|(?=[A-Za-z_.~+/=-]{0,19}\d)[\w.~+/=-]{8,19})/gi,
    example: "Bearer 9f8e7d6c5b4a",
  },
  {
    id: "jwt",
    trigger: /eyJ/,
    // The look-ahead is made once per run of characters, so that a run with many beginnings is not read for each.
    pattern: /(?<![\w-])(?=[\w-]+\.[\w-]*\.[\w-])(?<kept>[\w-]*?)eyJ[\w-]{5,}\.[\w-]*(?:\.[\w-]+){1,3}/g,
    example: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwYXQifQ.c2lnbmF0dXJl",
  },
  {
    id: "interrupt-token",
    trigger: /eyJ/,
    pattern: /(?<![\w-])(?=[\w-]+\.[\w-]{43})(?<kept>[\w-]*?)eyJ[\w-]{40,}\.[\w-]{43,}/g,
    example:
      "eyJydW5JZCI6InJ1bi0xIiwibm9kZUlkIjoiZ2F0ZSIsImludGVycnVwdElkIjoiaW50LTEifQ.0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
  },
  {
    id: "assay-key",
    trigger: /assay_/,
    pattern: prefixed("assay_", "[A-Za-z0-9]{32,}"),
    example: `assay_${"k".repeat(43)}`,
  },
  // The name of a credential that a host keeps: with the name the credential can be used.
  {
    id: "credential-reference",
    trigger: /cred_/,
    // With a digit within 40 characters: cred_check is an ordinary name.
    pattern: prefixed("cred_", "(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{4,}"),
    example: "cred_live_51H8xYzAb",
  },
  // OpenAI, Anthropic, Stripe and many others.
  {
    id: "secret-key",
    trigger: /sk[-_]/,
    pattern: prefixed("sk[-_]", "[A-Za-z0-9_-]{16,}"),
    example: "sk-canary-rfc0056-do-not-leak-abc123",
  },
  {
    id: "stripe-live",
    trigger: /k_live_/,
    pattern: prefixed("[rp]k_live_", "\\w{10,}"),
    example: "rk_live_51H8xYzAbCdEfGh",
  },
  {
    id: "aws-key-id",
    trigger: /A[KS]IA/,
    pattern: prefixed("A[KS]IA", "[A-Z0-9]{16,}"),
    example: "AKIAIOSFODNN7EXAMPLE",
  },
  {
    id: "slack",
    trigger: /xox/,
    pattern: prefixed("xox[a-z]-", "[A-Za-z0-9-]{10,}"),
    example: "xoxb-123456789012-abcdefGHIJ",
  },
  {
    id: "github",
    trigger: /gh[a-z]_/,
    pattern: prefixed("gh[a-z]_", "[A-Za-z0-9]{16,}"),
    example: `ghp_${"a1B2".repeat(9)}`,
  },
  {
    id: "github-fine-grained",
    trigger: /github_pat_/,
    pattern: prefixed("github_pat_", "\\w{16,}"),
    example: "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
  },
  {
    id: "gitlab",
    trigger: /glpat-/,
    pattern: prefixed("glpat-", "[\\w-]{16,}"),
    example: "glpat-abcDEF123456ghiJKL78",
  },
  { id: "npm", trigger: /npm_/, pattern: prefixed("npm_", "[A-Za-z0-9]{20,}"), example: `npm_${"aB3d".repeat(9)}` },
  { id: "google", trigger: /AIza/, pattern: prefixed("AIza", "[\\w-]{30,}"), example: `AIza${"Sy0_-".repeat(7)}` },
];

/** [id, prefix, rest, pattern of what every text with it holds, example]. */
type Row = readonly [id: string, prefix: string, rest: string, trigger: RegExp, example: string];

const hex = (length: number) => "0123456789abcdef".repeat(8).slice(0, length);
const mixed = (length: number) => "aB3dE6gH9jK2mN5p".repeat(8).slice(0, length);

/** Further secrets whose makers document their prefix, and which neither `SHAPES` nor the rule set covers. */
const ROWS: readonly Row[] = [
  ["webhook-secret", "whsec_", "[\\w+/=-]{20,}", /whsec_/, `whsec_${mixed(43)}`],
  ["slack-app", "xapp-", "[A-Za-z0-9-]{10,}", /xapp-/, `xapp-1-A0123456789-${mixed(20)}`],
  ["cloudflare", "cf(?:k|ut|at)_", "[A-Za-z0-9]{40,}", /cf(?:k|ut|at)_/, `cfut_${mixed(48)}`],
  ["tailscale", "tskey-", "[A-Za-z0-9_-]{20,}", /tskey-/, `tskey-auth-${mixed(12)}-${mixed(32)}`],
  ["google-client", "GOCSPX-", "[\\w-]{20,}", /GOCSPX-/, `GOCSPX-${mixed(28)}`],
  ["google-access", "ya29\\.", "[\\w-]{20,}", /ya29\./, `ya29.${mixed(60)}`],
  ["1password", "ops_eyJ", "[\\w+/=-]{60,}", /ops_ey/, `ops_eyJ${mixed(120)}`],
  ["digitalocean", "do[opr]_v1_", "[a-f0-9]{40,}", /do[opr]_v1_/, `dop_v1_${hex(64)}`],
  ["pypi", "pypi-", "[\\w-]{40,}", /pypi-/, `pypi-AgEIcHlwaS5vcmc${mixed(60)}`],
  ["rubygems", "rubygems_", "[a-f0-9]{40,}", /rubygems_/, `rubygems_${hex(48)}`],
  ["atlassian", "AT[AC]TT3", "[\\w=-]{40,}", /AT[AC]TT3/, `ATATT3xFfGF0${mixed(80)}`],
  ["postman", "PMAK-", "[a-f0-9-]{40,}", /PMAK-/, `PMAK-${hex(24)}-${hex(34)}`],
  ["new-relic", "NRAK-", "[A-Z0-9]{20,}", /NRAK-/, "NRAK-ABCDEFGHIJ0123456789KLMNOPQ"],
  ["sentry", "sntry[su]_", "[\\w+/=-]{30,}", /sntry[su]_/, `sntrys_${mixed(64)}`],
  ["pulumi", "pul-", "[a-f0-9]{40,}", /pul-/, `pul-${hex(40)}`],
  ["supabase", "sb(?:p|_secret)_", "\\w{20,}", /sb(?:p|_secret)_/, `sbp_${hex(40)}`],
  ["neon", "napi_", "[a-z0-9]{40,}", /napi_/, `napi_${hex(64)}`],
  ["planetscale", "pscale_(?:tkn|pw|oauth)_", "[\\w.-]{30,}", /pscale_/, `pscale_tkn_${mixed(43)}`],
  ["netlify", "nf[bcopu]_", "[A-Za-z0-9]{36,}", /nf[bcopu]_/, `nfp_${mixed(36)}`],
  ["heroku", "HRKU-", "[\\w-]{30,}", /HRKU-/, `HRKU-AA${mixed(58)}`],
  ["fly", "fm[12][ar]?_", "[\\w+/=-]{40,}", /fm[12]/, `fm2_${mixed(96)}`],
  ["buildkite", "bkua_", "[a-z0-9]{40,}", /bkua_/, `bkua_${hex(40)}`],
  ["circleci", "CCI(?:PAT|PRJ)_", "\\w{20,}", /CCIP/, `CCIPAT_${mixed(22)}_${hex(40)}`],
  ["doppler", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.", "[\\w.-]{30,}", /dp\./, `dp.pt.${mixed(43)}`],
  ["terraform", "[A-Za-z0-9]{14}\\.atlasv1\\.", "[\\w-]{50,}", /\.atlasv1\./, `${mixed(14)}.atlasv1.${mixed(67)}`],
  ["age", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}", /AGE-SECRET/, `AGE-SECRET-KEY-1${mixed(58).toUpperCase()}`],
  ["replicate", "r8_", "[A-Za-z0-9]{30,}", /r8_/, `r8_${mixed(37)}`],
  ["perplexity", "pplx-", "[A-Za-z0-9]{30,}", /pplx-/, `pplx-${mixed(48)}`],
  ["xai", "xai-", "[A-Za-z0-9]{40,}", /xai-/, `xai-${mixed(80)}`],
  ["pinecone", "pcsk_", "\\w{40,}", /pcsk_/, `pcsk_${mixed(6)}_${mixed(63)}`],
  ["langsmith", "lsv2_(?:pt|sk)_", "[a-f0-9_]{30,}", /lsv2_/, `lsv2_pt_${hex(32)}_${hex(10)}`],
  ["brevo", "xkeysib-", "[A-Za-z0-9-]{40,}", /xkeysib-/, `xkeysib-${hex(64)}-${mixed(16)}`],
  ["resend", "re_[A-Za-z0-9]{8}_", "[A-Za-z0-9]{20,}", /re_/, `re_${mixed(8)}_${mixed(24)}`],
  ["mailgun", "key-", "[a-f0-9]{32,}", /key-/, `key-${hex(32)}`],
  ["twilio", "SK", "[a-f0-9]{32,}", /SK[a-f0-9]/, `SK${hex(32)}`],
  ["twilio-account", "AC[a-f0-9]{32}:", "[a-f0-9]{32,}", /AC[a-f0-9]{32}:/, `AC${hex(32)}:${hex(32)}`],
  ["square", "(?:sq0[a-z]{3}-|EAAA)", "[\\w-]{22,}", /sq0|EAAA/, `sq0csp-${mixed(43)}`],
  ["airtable", "pat[A-Za-z0-9]{14}\\.", "[a-f0-9]{40,}", /pat/, `pat${mixed(14)}.${hex(64)}`],
  ["dropbox", "sl\\.", "[\\w-]{60,}", /sl\./, `sl.${mixed(128)}`],
  ["huggingface", "hf_", "[A-Za-z0-9]{20,}", /hf_/, `hf_${mixed(34)}`],
  [
    "discord",
    "[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.",
    "[\\w-]{27,}",
    /\.[\w-]{6}\./,
    `MTA${mixed(21)}.G0aBcD.${mixed(38)}`,
  ],
  ["telegram", "[0-9]{8,10}:AA", "[\\w-]{32,}", /:AA/, `123456789:AA${mixed(33)}`],
];

const VENDOR_SHAPES: readonly SecretShape[] = ROWS.map(([id, prefix, rest, trigger, example]) => ({
  id,
  trigger,
  pattern: prefixed(prefix, rest),
  example,
}));

/** Every shape that decides alone, in the order in which they are tried. */
export const SECRET_SHAPES: readonly SecretShape[] = [...SHAPES, ...VENDOR_SHAPES];
