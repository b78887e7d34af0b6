/** Where keys, tokens and the database are; `ASSAY_DATA` and `ASSAY_DATABASE_URL` among them, and the tools of one agent. */
const OWN = /^ASSAY_(DATA(BASE.*)?|TOOLS_URL|.*(KEY|TOKEN|SECRET|PASSWORD|HEADERS).*)$/i;

/** What a client of PostgreSQL goes by. */
const DATABASE = /^PG[A-Z]+$/;

export interface Ours {
  /** Under which other names there are keys of ours. */
  readonly names?: readonly string[];
  /** There is a PostgreSQL of ours, so what its client goes by is ours too. */
  readonly hasDatabase?: boolean;
}

/** The environment of every program that a server runs: where programs, files and times are found, and no keys. */
const PLAIN = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"] as const;

/** Variables that a program is given beside those: names to pass on, or a value for each name, `true` to pass it on. */
export type NamedVariables = readonly string[] | Readonly<Record<string, string | true>>;

/**
 * The environment of a program that a server runs. The variables of its task come on top. A name that the environment of
 * this process does not have is refused: the program would do something else than its operator expects.
 */
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

/** The names whose values come from the environment of this process. */
export function passedOn(named: NamedVariables = []): readonly string[] {
  return isList(named) ? named : Object.entries(named).flatMap(([name, given]) => (given === true ? [name] : []));
}

function isList(named: NamedVariables): named is readonly string[] {
  return Array.isArray(named);
}

/** What a program started by hand may see of the environment: all but Assay's own keys and database settings. */
export function childEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { names = [], hasDatabase = false }: Ours = {},
): Readonly<Record<string, string>> {
  const isOurs = (name: string) => OWN.test(name) || names.includes(name) || (hasDatabase && DATABASE.test(name));
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isOurs(entry[0]),
    ),
  );
}
