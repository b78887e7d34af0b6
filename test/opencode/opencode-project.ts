import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../src/testing/temp-dir.ts";

export interface OpencodeProject {
  readonly dir: string;
  /** All that the command is to know of the machine: nothing of the user's own, and no network. */
  readonly env: Readonly<Record<string, string>>;
}

/** A project whose only model is the one at this address. */
export function opencodeProject(modelUrl: string): OpencodeProject {
  const dir = tempDir();
  const home = tempDir();
  const places = Object.fromEntries(
    ["CONFIG", "DATA", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, join(home, name.toLowerCase())]),
  );
  for (const place of Object.values(places)) mkdirSync(place);
  writeFileSync(
    join(dir, "opencode.json"),
    JSON.stringify({
      model: "scripted/reviewer",
      small_model: "scripted/reviewer",
      enabled_providers: ["scripted"],
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          name: "Scripted",
          options: { baseURL: modelUrl, apiKey: "none" },
          models: { reviewer: { name: "Reviewer", limit: { context: 200_000, output: 16_000 } } },
        },
      },
    }),
  );
  return {
    dir,
    env: {
      PATH: process.env["PATH"] ?? "",
      PWD: dir,
      HOME: home,
      ...places,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_SHARE: "1",
      npm_config_offline: "true",
    },
  };
}
