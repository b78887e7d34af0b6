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

/** What a program started from here may see of the environment: all but Assay's own keys and database settings. */
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
