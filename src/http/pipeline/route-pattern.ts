/** A parameter holds no colon, so that no verb hides in an id, and no control character, which no database looks up. */
const PARAMETER = "[^:/\\x00-\\x1f]+";

/** A node is called what the author of its workflow likes, and no verb comes after it. */
const NODE = "[^\\x00-\\x1f]+";

/** `/v1/runs/{runId}:pause` as Fastify writes it. */
export function fastifyPattern(path: string): string {
  return path
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith("{") ? `:${part.slice(1, -1)}(${parameter(part)})` : part.replaceAll(":", "::")))
    .join("");
}

function parameter(part: string): string {
  return part === "{nodeId}" ? NODE : PARAMETER;
}

/** The same path as a test of a whole URL path, whose groups are named after its parameters. */
export function pathTest(path: string): RegExp {
  const source = path
    .split(/(\{\w+\})/)
    .map((part) =>
      part.startsWith("{") ? `(?<${part.slice(1, -1)}>${PARAMETER})` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
    )
    .join("");
  return new RegExp(`^${source}$`);
}

export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.includes("{") ? path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "") : path;
}
