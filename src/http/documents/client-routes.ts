import { EVENTS } from "../../protocol/events.ts";
import type { Operation } from "../../protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../protocol/operations.ts";

/** Which operation each call of the client is: `protocol/calls.ts`. */
export type CallTable = Readonly<Record<string, Readonly<Record<string, OperationId>>>>;

/** The module `protocol/routes.ts`: of the table of operations what a client needs to send requests, and nothing of the schemas. */
export function clientRoutes(calls: CallTable): string {
  const nouns = Object.entries(calls).map(([noun, verbs]) => {
    const routes = Object.entries(verbs).map(([verb, id]) => `    ${verb}: "${routeOf(OPERATIONS[id])}",\n`);
    return `  ${noun}: {\n${routes.join("")}  },\n`;
  });
  const updates = Object.entries(EVENTS).flatMap(([type, { tier }]) => (tier === "updates" ? [type] : []));
  return `${HEAD}export const ROUTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${nouns.join("")}};

/** The events that streams in the mode \`updates\` carry. */
export const UPDATES: ReadonlySet<string> = new Set([
${updates.map((type) => `  "${type}",\n`).join("")}]);
`;
}

const HEAD = `// Made from the table of operations by \`npm run docs\`; connect.ts says how a route is written.

`;

function routeOf(operation: Operation): string {
  const { method, path, idempotent } = operation;
  const input = hasBody(operation) ? "i" : operation.query === undefined ? "" : "q";
  const flags = `${input}${idempotent === undefined ? "" : "k"}${answerOf(operation)}`;
  return `${method} ${path} ${flags}`.trimEnd();
}

export function hasBody({ body, bytesOf, takesPack }: Operation): boolean {
  return body !== undefined || bytesOf !== undefined || takesPack === true;
}

function answerOf({ success }: Operation): string {
  const { frames, line, content, contentType, schema } = success;
  if (frames !== undefined) return "e";
  if (line !== undefined) return "l";
  if (content !== undefined) return "";
  if (contentType !== undefined) return contentType.startsWith("text/") ? "t" : "b";
  const items = itemsOf(schema);
  return items === undefined ? "" : `>${items}`;
}

/** The name of the list that a page holds. */
export function itemsOf(schema: unknown): string | undefined {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Readonly<Record<string, { readonly type?: string }>>;
    required?: readonly string[];
  };
  if (properties["nextCursor"] === undefined) return undefined;
  return required.find((name) => properties[name]?.type === "array");
}
