import {
  AGENT_SETTINGS,
  CLIENT_SETTINGS,
  GATE_SETTINGS,
  REVIEW_SETTINGS,
  WEBHOOK_SETTINGS,
} from "./feature-settings.ts";
import { AUDIT_SETTINGS, LIMIT_SETTINGS, SERVER_SETTINGS, STORAGE_SETTINGS, WORK_SETTINGS } from "./host-settings.ts";
import type { Setting } from "./setting.ts";
import type { WrittenReviewer } from "./setting-formats.ts";

/**
 * Every setting, once. `--help`, `docs/configuration.md` and `config.ts` read these rows; a test compares them.
 *
 * The other names of a setting follow from its own: `maxStreams` is `--max-streams`, `ASSAY_MAX_STREAMS` in the
 * environment and `"maxStreams"` in `assay.config.json`.
 */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...STORAGE_SETTINGS,
  ...WORK_SETTINGS,
  ...AGENT_SETTINGS,
  ...GATE_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...REVIEW_SETTINGS,
  ...LIMIT_SETTINGS,
  ...AUDIT_SETTINGS,
  ...CLIENT_SETTINGS,
};

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

type Value<S> = S extends { type: "integer" }
  ? number
  : S extends { type: "flag" }
    ? boolean
    : S extends { type: "names" | "paths" }
      ? readonly string[]
      : S extends { type: "reviewers" }
        ? readonly WrittenReviewer[]
        : S extends { type: "choice"; choices: readonly (infer C)[] }
          ? C
          : S extends { default: string }
            ? string
            : string | undefined;

/** Every setting with its value. */
export type Config = { readonly [K in SettingName]: Value<(typeof SETTINGS)[K]> };

export function settingNamed(name: SettingName): Setting {
  return SETTINGS[name];
}

export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `--max-streams`; a setting that is on by default is switched off with `--no-…`. */
export function flagOf(name: SettingName): string {
  const setting = settingNamed(name);
  return setting.type === "flag" && setting.default ? `--no-${kebab(name)}` : `--${kebab(name)}`;
}

export function environmentNameOf(name: SettingName): string {
  return `ASSAY_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** The default for readers: with its unit, and with a word where there is none. */
export function defaultText(setting: Setting): string {
  if (setting.default === undefined) return "none";
  if (Array.isArray(setting.default)) return setting.default.length === 0 ? "none" : setting.default.join(",");
  if (setting.type === "flag") return setting.default ? "on" : "off";
  return setting.unit === undefined ? String(setting.default) : `${setting.default} ${setting.unit}`;
}
