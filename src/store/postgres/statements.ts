import { createHash } from "node:crypto";
import type { Client, QueryResult } from "pg";
import type { AnyTable, Columns, ColumnType, RowOf, Table } from "../schema/table.ts";

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

/** One statement for any number of rows, each column as one array. No statement for no rows. */
export type SetStatement<R> = (rows: readonly R[]) => Statement[];

const TYPES: Readonly<Record<ColumnType, string>> = {
  text: "text",
  int: "integer",
  bigint: "bigint",
  double: "double precision",
  blob: "bytea",
};

/** `rest` has conditions on the `given` rows, and what happens to those that are there already. */
export function insertInto<N extends string, C extends Columns>(table: Table<N, C>, rest = ""): SetStatement<RowOf<C>> {
  const { name, names } = table;
  const text = `insert into ${name} (${names}) select * from ${unnest(table, names)} as given(${names}) ${rest}`;
  return setStatement(`insert ${name}`, text, names);
}

/** Sets the columns that change, or these. Only rows that exist are changed. */
export function update<N extends string, C extends Columns>(
  table: Table<N, C>,
  columns: readonly (keyof C & string)[] = table.changing,
): SetStatement<RowOf<C>> {
  const { name, key } = table;
  const names = [...key, ...columns];
  const sets = columns.map((column) => `${column} = given.${column}`);
  const where = key.map((column) => `${name}.${column} = given.${column}`).join(" and ");
  const text = `update ${name} set ${sets} from ${unnest(table, names)} as given(${names}) where ${where}`;
  return setStatement(`update ${name}`, text, names);
}

function unnest({ columns }: AnyTable, names: readonly string[]): string {
  const types = names.map((column) => TYPES[columns[column]?.type ?? "text"]);
  return `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`)})`;
}

function setStatement<R>(about: string, text: string, names: readonly string[]): SetStatement<R> {
  const statement = prepared(about, text);
  return (rows) => {
    if (rows.length === 0) return [];
    return [{ ...statement, values: names.map((column) => rows.map((row) => row[column as keyof R])) }];
  };
}

/** One statement with these values; none where the first is an empty list. */
export function statement({ name, text }: Prepared, ...values: unknown[]): Statement[] {
  const [given] = values;
  return Array.isArray(given) && given.length === 0 ? [] : [{ name, text, values }];
}

/** The values that identify a row, in the order of its key's columns. */
type KeyOf<R> = (row: R) => readonly unknown[];

/** In an order that is the same in every process: those that write the same rows lock them one after the other. */
export function sorted<R>(rows: readonly R[], keyOf: KeyOf<R>): R[] {
  const keyed = rows.map((row) => ({ row, key: JSON.stringify(keyOf(row)) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row);
}

/** Sorted, and of rows with the same key only the last: one statement can replace a row only once. */
export function newest<R>(rows: readonly R[], keyOf: KeyOf<R>): R[] {
  return sorted([...new Map(rows.map((row) => [JSON.stringify(keyOf(row)), row])).values()], keyOf);
}

declare const made: unique symbol;

/** The name of a prepared statement. Only `prepared` makes one, so that no name has two texts. */
export type StatementName = string & { readonly [made]: true };

export interface Prepared {
  readonly name: StatementName;
  readonly text: string;
}

const known = new Map<string, Prepared>();

/** A server cuts names after 63 bytes. */
const ABOUT_MAX = 40;
const DIGEST_DIGITS = 20;

/**
 * A statement that each connection parses and plans once. Its name ends with the digest of its text: a server keeps the
 * first text it was given under a name, so two texts under one name would fail on the connection that uses both.
 * `about` is for people who read the server's log.
 */
export function prepared(about: string, text: string): Prepared {
  const before = known.get(text);
  if (before !== undefined) return before;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_DIGITS);
  const statement = { name: `${about.slice(0, ABOUT_MAX)} ${digest}` as StatementName, text };
  known.set(text, statement);
  return statement;
}
