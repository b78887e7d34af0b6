import type { Client, QueryResult } from "pg";
import type { Tables } from "../schema/tables.ts";
import { prepared, type StatementName } from "./prepared.ts";

export interface Statement {
  /** Statements with a name are parsed once per connection; see `prepared`. */
  readonly name?: StatementName;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/**
 * Sends all statements in one go and waits for all answers: one round trip, however many there are. Throws the first
 * failure; inside a transaction it makes the server refuse all that follow.
 */
export async function send(client: Client, statements: readonly Statement[]): Promise<QueryResult[]> {
  return answersTo(sendAll(client, statements));
}

/**
 * Sends the statements of a transaction and then `end`, which is sent only when the driver could write all of the others: a
 * statement that never left the client is no failure for the server, which would commit the rest. Still one round
 * trip. `behind` sends what follows `end` at once.
 */
export async function sendTransaction(
  client: Client,
  statements: readonly Statement[],
  end: Statement,
  behind: () => void,
): Promise<QueryResult[]> {
  const answers = sendAll(client, statements);
  await requireSent(answers);
  const all = [...answers, ...sendAll(client, [end])];
  behind();
  return answersTo(all);
}

function sendAll(client: Client, statements: readonly Statement[]): Promise<QueryResult>[] {
  return statements.map(({ values, ...statement }) =>
    client.query({ ...statement, ...(values && { values: [...values] }) }),
  );
}

async function answersTo(sent: readonly Promise<QueryResult>[]): Promise<QueryResult[]> {
  const answers = await Promise.allSettled(sent);
  return answers.map((answer) => {
    if (answer.status === "rejected") throw answer.reason;
    return answer.value;
  });
}

/**
 * Throws the first failure of the driver itself. The driver reports such a failure at once or in the next tick; no answer of the
 * server is read before that tick is over.
 */
async function requireSent(sent: readonly Promise<QueryResult>[]): Promise<void> {
  const failures: unknown[] = [];
  for (const answer of sent) answer.catch((error: unknown) => failures.push(error));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  if (failures.length > 0) throw failures[0];
}

type ColumnType = "text" | "integer" | "bigint" | "bytea" | "double precision";
type Row<T extends keyof Tables> = Tables[T];
type Columns<T extends keyof Tables> = Readonly<Partial<Record<keyof Row<T> & string, ColumnType>>>;

/** One statement for any number of rows, each column as one array. No statement for no rows. */
export type SetStatement<R> = (rows: readonly R[]) => Statement[];

export function insertInto<T extends keyof Tables, C extends Columns<T>>(
  table: T,
  columns: C,
  /** Conditions on the `given` rows, and what to do about those that are there already. */
  rest = "",
): SetStatement<Pick<Row<T>, keyof C & keyof Row<T>>> {
  const names = Object.keys(columns);
  const text = `insert into ${table} (${names}) select * from ${unnest(columns)} as given(${names}) ${rest}`;
  return setStatement(`insert ${table}`, text, names);
}

/** Sets all columns but those that say which row. Only rows that exist are changed. */
export function update<T extends keyof Tables, C extends Columns<T>>(
  table: T,
  columns: C,
  by: readonly (keyof C & string)[],
): SetStatement<Pick<Row<T>, keyof C & keyof Row<T>>> {
  const names = Object.keys(columns);
  const sets = names
    .filter((name) => !(by as readonly string[]).includes(name))
    .map((name) => `${name} = given.${name}`);
  const where = by.map((name) => `${table}.${name} = given.${name}`).join(" and ");
  const text = `update ${table} set ${sets} from ${unnest(columns)} as given(${names}) where ${where}`;
  return setStatement(`update ${table}`, text, names);
}

function unnest(columns: Readonly<Record<string, ColumnType | undefined>>): string {
  return `unnest(${Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`)})`;
}

function setStatement<R>(about: string, text: string, names: readonly string[]): SetStatement<R> {
  const statement = prepared(about, text);
  return (rows) => {
    if (rows.length === 0) return [];
    return [{ ...statement, values: names.map((column) => rows.map((row) => row[column as keyof R])) }];
  };
}
