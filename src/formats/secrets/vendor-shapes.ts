import { prefixed, type SecretShape } from "./secret-shapes.ts";

/** [id, what it begins with, what follows, a pattern of what every text with it holds, an example]. */
type Row = readonly [id: string, prefix: string, rest: string, trigger: RegExp, example: string];

const hex = (length: number) => "0123456789abcdef".repeat(8).slice(0, length);
const mixed = (length: number) => "aB3dE6gH9jK2mN5p".repeat(8).slice(0, length);

/**
 * Further secrets whose makers document how they begin, which neither the floor nor the rule set knows. Like the floor,
 * they decide by shape alone.
 */
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

export const VENDOR_SHAPES: readonly SecretShape[] = ROWS.map(([id, prefix, rest, trigger, example]) => ({
  id,
  trigger,
  pattern: prefixed(prefix, rest),
  example,
}));
