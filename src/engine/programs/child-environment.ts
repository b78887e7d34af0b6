/** Assay's variables with keys, tokens, data folder, database, and the tools of one agent. */
const OWN = /^ASSAY_(DATA(BASE.*)?|TOOLS_URL|.*(KEY|TOKEN|SECRET|PASSWORD|HEADERS).*)$/i;

/** The variables of PostgreSQL clients. */
const DATABASE = /^PG[A-Z]+$/;

export interface Ours {
  /** Other names of variables with keys of Assay. */
  readonly names?: readonly string[];
  /** Whether Assay uses a PostgreSQL, so that the variables of its client are hidden too. */
  readonly hasDatabase?: boolean;
}

/** The variables of all programs that a server runs: paths, locale and time zone, no keys. */
const PLAIN = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"] as const;

/** Additional variables of a program: names to pass on, or a value for each name, `true` to pass it on. */
export type NamedVariables = readonly string[] | Readonly<Record<string, string | true>>;

/** The environment of a program that a server runs. A name that this process does not have is refused: the program would not do what its operator expects. */
export function programEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  named: NamedVariables = [],
): { readonly variables: Readonly<Record<string, string>> } | { readonly missing: string } {
  const values = isList(named) ? named.map((name) => [name, true] as const) : Object.entries(named);
  const variables: Record<string, string> = {};
  for (const name of PLAIN) {
    const value = environment[name];
    if (value !== undefined) variables[name] = value;
  }
  for (const [name, given] of values) {
    const value = given === true ? environment[name] : given;
    if (value === undefined) return { missing: name };
    variables[name] = value;
  }
  return { variables };
}

/** The names that are passed on from the environment of this process. */
export function passedOn(named: NamedVariables = []): readonly string[] {
  return isList(named) ? named : Object.entries(named).flatMap(([name, given]) => (given === true ? [name] : []));
}

function isList(named: NamedVariables): named is readonly string[] {
  return Array.isArray(named);
}

/** The environment of a program that is started by hand: without Assay's own keys and database settings. */
export function childEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { names = [], hasDatabase = false }: Ours = {},
): Readonly<Record<string, string>> {
  const isOurs = (name: string) => OWN.test(name) || names.includes(name) || (hasDatabase && DATABASE.test(name));
  const isShared = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && !isOurs(entry[0]);
  return Object.fromEntries(Object.entries(environment).filter(isShared));
}
