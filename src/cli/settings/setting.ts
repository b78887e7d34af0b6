/** A row of the table of settings: where it belongs, how it is written, and what it is. */
export type Setting = SettingRow & { readonly group: SettingGroup };

type SettingRow =
  | (Row & { readonly type: "integer"; readonly default: number; readonly min: number; readonly max: number })
  | (Row & { readonly type: "flag"; readonly default: false })
  /** On unless `--no-…`; `off` is the summary of that. */
  | (Row & { readonly type: "flag"; readonly default: true; readonly off: string })
  | (Row & { readonly type: "text"; readonly default?: string; readonly secret?: true })
  | (Row & { readonly type: "choice"; readonly default: string; readonly choices: readonly string[] })
  | (Row & { readonly type: "names"; readonly default: readonly string[]; readonly choices: readonly string[] })
  /** Relative to the place where it was written: the folder of the config file, else the working directory. */
  | (Row & { readonly type: "path"; readonly default?: string })
  | (Row & { readonly type: "paths"; readonly default: readonly string[] })
  /** See `written-reviewer.ts`; programs in it are found as paths are. */
  | (Row & { readonly type: "reviewers"; readonly default: readonly string[] });

interface Row {
  /** One sentence. */
  readonly summary: string;
  /** The name of the value in help texts. */
  readonly value?: string;
  readonly unit?: "milliseconds" | "seconds" | "bytes" | "per second";
}

export const SETTING_GROUPS = [
  "Server",
  "Storage",
  "Work",
  "Agents",
  "Gates",
  "Webhooks",
  "Reviews",
  "Limits",
  "Audit",
  "Client",
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** The rows of a group. */
export function inGroup<const R extends Readonly<Record<string, SettingRow>>>(group: SettingGroup, rows: R) {
  const grouped = Object.entries(rows).map(([name, row]) => [name, { group, ...row }]);
  return Object.fromEntries(grouped) as { readonly [K in keyof R]: R[K] & { readonly group: SettingGroup } };
}

/** The members that rows of one kind share. */
const MAX = Number.MAX_SAFE_INTEGER;
export const DAY_MS = 86_400_000;
/** As long as a timer can wait. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
export const ms = { type: "integer", unit: "milliseconds", min: 0, max: MAX_TIMER_MS, value: "MS" } as const;
export const seconds = { type: "integer", unit: "seconds", min: 1, max: MAX / 1000, value: "SECONDS" } as const;
export const count = { type: "integer", min: 1, max: MAX, value: "N" } as const;
export const bytes = { type: "integer", unit: "bytes", min: 1024, max: 2 ** 30, value: "BYTES" } as const;
export const port = { type: "integer", min: 0, max: 65_535, value: "PORT" } as const;
export const off = { type: "flag", default: false } as const;
export const url = { type: "text", value: "URL" } as const;
export const folders = { type: "paths", default: [], value: "DIR" } as const;
