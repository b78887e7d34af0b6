/** A row of the table of settings. */
export type Setting = SettingRow & { readonly group: SettingGroup };

type SettingRow =
  | IntegerRow
  | (Row & { readonly type: "flag"; readonly default: false })
  /** On unless `--no-…`; `off` is the summary of that. */
  | (Row & { readonly type: "flag"; readonly default: true; readonly off: string })
  | (Row & { readonly type: "text"; readonly default?: string; readonly secret?: true })
  | (Row & { readonly type: "choice"; readonly default: string; readonly choices: readonly string[] })
  | (Row & { readonly type: "names"; readonly default: readonly string[]; readonly choices: readonly string[] })
  /** Relative to the folder of the config file that names it, else to the working directory. */
  | (Row & { readonly type: "path"; readonly default?: string })
  | (Row & { readonly type: "paths"; readonly default: readonly string[] })
  /** See `parseReviewers`; paths of programs are relative like those of `path`. */
  | (Row & { readonly type: "reviewers"; readonly default: readonly string[] });

export interface IntegerRow extends Row {
  readonly type: "integer";
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export interface Row {
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

export function inGroup<const R extends Readonly<Record<string, SettingRow>>>(group: SettingGroup, rows: R) {
  const grouped = Object.entries(rows).map(([name, row]) => [name, { group, ...row }]);
  return Object.fromEntries(grouped) as { readonly [K in keyof R]: R[K] & { readonly group: SettingGroup } };
}

const MAX = Number.MAX_SAFE_INTEGER;
export const DAY_MS = 86_400_000;
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type IntegerMembers = Pick<IntegerRow, "min" | "max" | "value" | "unit">;

/** A builder of rows of one unit: the default, the summary, and members in place of the usual ones. */
function integers(usual: IntegerMembers) {
  return (byDefault: number, summary: string, members: Partial<IntegerMembers> = {}): IntegerRow => ({
    type: "integer",
    default: byDefault,
    summary,
    ...usual,
    ...members,
  });
}

export const ms = integers({ unit: "milliseconds", min: 0, max: MAX_TIMER_MS, value: "MS" });
export const seconds = integers({ unit: "seconds", min: 1, max: MAX / 1000, value: "SECONDS" });
export const count = integers({ min: 1, max: MAX, value: "N" });
export const bytes = integers({ unit: "bytes", min: 1024, max: 2 ** 30, value: "BYTES" });
export const port = integers({ min: 0, max: 65_535, value: "PORT" });

export const text = (value: string, summary: string) => ({ type: "text", value, summary }) as const;
export const secret = (value: string, summary: string) => ({ ...text(value, summary), secret: true }) as const;
export const url = (summary: string) => text("URL", summary);
export const path = (value: string, summary: string) => ({ type: "path", value, summary }) as const;
export const folders = (summary: string) => ({ type: "paths", default: [], value: "DIR", summary }) as const;
/** A switch that is off by default. */
export const off = (summary: string) => ({ type: "flag", default: false, summary }) as const;
