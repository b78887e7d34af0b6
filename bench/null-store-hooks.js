// @ts-check

/**
 * Whoever imports the opening of the store gets the one that forgets, except that one itself.
 * @type {import("node:module").ResolveHook}
 */
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (!found.url.endsWith("/dist/cli/server/database.js") || context.parentURL === replacement) return found;
  return { ...found, url: replacement };
}

const replacement = new URL("./null-database.js", import.meta.url).href;
