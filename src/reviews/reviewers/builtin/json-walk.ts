/** Where a value stands, with `[*]` for every item of a list: what is wrong in a thousand items is one matter. */
export interface Visited {
  readonly path: string;
  readonly value: unknown;
  /** The name it has in an object. */
  readonly name?: string;
}

/** Every value, from the outside in. Without recursion and with nothing prepared, since depth and length are the artifact's. */
export function* walkJson(root: unknown): Generator<Visited> {
  yield { path: "$", value: root };
  const open = [entered(root, "$")];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.next === top.count) {
      open.pop();
      continue;
    }
    const visited = top.member(top.next++);
    yield visited;
    if (typeof visited.value === "object" && visited.value !== null) open.push(entered(visited.value, visited.path));
  }
}

interface Entered {
  readonly count: number;
  next: number;
  member(index: number): Visited;
}

function entered(value: unknown, path: string): Entered {
  if (Array.isArray(value)) {
    const inside = path.length > PATH_CHARACTERS ? path : `${path}[*]`;
    return { count: value.length, next: 0, member: (index) => ({ path: inside, value: value[index] }) };
  }
  const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const members = value as Readonly<Record<string, unknown>>;
  return {
    count: names.length,
    next: 0,
    member: (index) => {
      const name = names[index] as string;
      return { path: memberPath(path, name), value: members[name], name };
    },
  };
}

const PATH_CHARACTERS = 300;

/** Names of any length make paths of any length; the beginning tells enough. */
function memberPath(path: string, name: string): string {
  if (path.length > PATH_CHARACTERS) return path;
  return /^[A-Za-z_$][\w$-]*$/.test(name) && name.length < 100
    ? `${path}.${name}`
    : `${path}[${JSON.stringify(name.slice(0, 100))}]`;
}

export type JsonType = "null" | "list" | "object" | "string" | "number" | "boolean";

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value as JsonType;
}
