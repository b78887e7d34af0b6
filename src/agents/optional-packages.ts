import { createRequire } from "node:module";
import { unusableInput } from "../protocol/errors.ts";
import type { AgentsFile } from "./bindings/agents-file.ts";
import type { Provider } from "./models/model-settings.ts";

/** Packages that are installed in addition to Assay where agents need them: models and MCP servers are not for everyone. */
const MODEL_PACKAGE = "ai";
const MCP_PACKAGE = "@modelcontextprotocol/sdk";
const PROVIDER_PACKAGES: Readonly<Record<Provider, string>> = {
  anthropic: "@ai-sdk/anthropic",
  openai: "@ai-sdk/openai",
  "openai-compatible": "@ai-sdk/openai-compatible",
};

/** The packages that the models and MCP servers of an agents file are reached with. */
export function packagesFor({ models, mcp }: Pick<AgentsFile, "models" | "mcp">): string[] {
  const providers = [...models.values()].map(({ provider }) => PROVIDER_PACKAGES[provider]);
  return [
    ...(providers.length > 0 ? [MODEL_PACKAGE, ...new Set(providers)] : []),
    ...(mcp.length > 0 ? [MCP_PACKAGE] : []),
  ];
}

/** The packages that models of one provider are asked with. */
export function packagesOfModel(provider: Provider): string[] {
  return [MODEL_PACKAGE, PROVIDER_PACKAGES[provider]];
}

/** Throws `unusable_input` that names the packages that are missing and the command that installs them. */
export function requirePackages(names: readonly string[], purpose: string, isThere = isInstalled): void {
  const missing = names.filter((name) => !isThere(name));
  if (missing.length === 0) return;
  const problem = `${purpose} ${missing.length === 1 ? "a package that is" : "packages that are"} not installed; run \`npm install ${missing.join(" ")}\``;
  throw unusableInput(problem);
}

/** Whether programs and endpoints can reach their tools by MCP. */
export function speaksMcp(): boolean {
  return isInstalled(MCP_PACKAGE);
}

const { resolve } = createRequire(import.meta.url);

function isInstalled(name: string): boolean {
  try {
    resolve(`${name}/package.json`);
    return true;
  } catch (error) {
    // A package that keeps its package.json to itself is there.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND";
  }
}
