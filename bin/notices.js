// @ts-check
// The licences of the packages whose code is in a bundle: they require a copy.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * @param {readonly (import("rolldown").OutputChunk | import("rolldown").OutputAsset)[]} output
 * @param {string} folder
 */
export function writeNotices(output, folder) {
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const folders = new Set(modules.map(packageFolder).filter((one) => one !== undefined));
  // A set, because a package may be installed in several places.
  const notices = [...new Set([...folders].map(notice))].sort();
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices.join(`\n${"-".repeat(80)}\n\n`));
}

/**
 * @param {string} module the path of a file
 * @returns {string | undefined} the folder of the package it belongs to; nothing for our own
 */
function packageFolder(module) {
  const [, ...inPackage] = module.split(`${sep}node_modules${sep}`);
  const last = inPackage.at(-1);
  if (last === undefined) return undefined;
  const name = last.split(sep, last.startsWith("@") ? 2 : 1).join(sep);
  return module.slice(0, module.length - last.length) + name;
}

/** @param {string} folder */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const whole = texts.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${[`${name} ${version} (${license})`, ...whole].join("\n\n")}\n`;
}
