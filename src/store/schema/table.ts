/**
 * Tables, each described once: the types of its rows and records, the mapping between the two, the statements of both databases and the
 * test of the migrations follow from the description.
 */

/** Types of columns; see `column-types.ts` for their names in each database. */
export type ColumnType = "text" | "int" | "bigint" | "double" | "blob";

interface Settings<N extends boolean, F extends string | undefined> {
  readonly nullable: N;
  /** The member of records; undefined for a column that records do not have. */
  readonly field: F;
  /** Suffix of the member's name, such as `Ms`, where the column's name lacks it. */
  readonly suffix: string;
  readonly default?: string;
}

/** The member of a record is named after its column in camel case, unless the column says otherwise. */
type ByName = "name of the column";

/** How values differ between rows and records: JSON is text in both databases, and a flag is 0 or 1. */
interface Codec {
  read(stored: never): unknown;
  write(value: never): string | number;
}

const JSON_TEXT: Codec = {
  read: (text: string): unknown => JSON.parse(text),
  write: (value: unknown) => JSON.stringify(value),
};
const FLAG: Codec = { read: (stored: number) => stored === 1, write: (value: boolean) => (value ? 1 : 0) };

/** `V` is the value in a row, `M` that in a record, `S` the suffix of the member's name. */
export class Column<V, M, N extends boolean, F extends string | undefined, S extends string> {
  declare readonly value: V;
  declare readonly member: M;
  declare readonly suffix: S;
  readonly type: ColumnType;
  readonly settings: Settings<N, F>;
  readonly codec: Codec | undefined;

  constructor(type: ColumnType, settings: Settings<N, F>, codec?: Codec) {
    this.type = type;
    this.settings = settings;
    this.codec = codec;
  }

  /** Null in rows, absent in records. */
  get orNull(): Column<V, M, true, F, S> {
    return new Column(this.type, { ...this.settings, nullable: true }, this.codec);
  }

  /** Name of the member in records, where it differs from the column. */
  as<G extends string>(field: G): Column<V, M, N, G, ""> {
    return new Column(this.type, { ...this.settings, field }, this.codec);
  }

  /** For the database alone: records do not have it. */
  get hidden(): Column<V, M, N, undefined, ""> {
    return new Column(this.type, { ...this.settings, field: undefined }, this.codec);
  }

  /** Default of rows that are older than the column. */
  byDefault(text: string): Column<V, M, N, F, S> {
    return new Column(this.type, { ...this.settings, default: text }, this.codec);
  }
}

type Plain<V, M = V, S extends string = ""> = Column<V, M, false, ByName, S>;

const BY_NAME: ByName = "name of the column";
const PLAIN = { nullable: false, field: BY_NAME, suffix: "" } as const;

export function text<V extends string = string>(): Plain<V> {
  return new Column("text", PLAIN);
}
/** Up to 2^31; PostgreSQL refuses more. */
export function int(): Plain<number> {
  return new Column("int", PLAIN);
}
export function bigint(): Plain<number> {
  return new Column("bigint", PLAIN);
}
export function double(): Plain<number> {
  return new Column("double", PLAIN);
}
export function blob(): Plain<Uint8Array> {
  return new Column("blob", PLAIN);
}
/** Milliseconds since the epoch. */
export function time(): Plain<number, number, "Ms"> {
  return new Column("bigint", { ...PLAIN, suffix: "Ms" });
}
/** 0 or 1. */
export function flag(): Plain<number, boolean> {
  return new Column("int", PLAIN, FLAG);
}
/** JSON as text, so that what was written is read back byte for byte; records hold its value. */
export function json<M>(): Plain<string, M> {
  return new Column("text", PLAIN, JSON_TEXT);
}
/** JSON that records hold as text too: a higher floor parses it. */
export function jsonText(): Plain<string> {
  return text();
}

export type AnyColumn = Column<unknown, unknown, boolean, string | undefined, string>;
export type Columns = Readonly<Record<string, AnyColumn>>;

export type RowOf<C> = {
  -readonly [K in keyof C]: C[K] extends Column<infer V, unknown, infer N, string | undefined, string>
    ? V | (N extends true ? null : never)
    : never;
};

type Camel<K extends string> = K extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : K;

type FieldOf<K, C> =
  C extends Column<unknown, unknown, boolean, infer F, infer S>
    ? F extends ByName
      ? `${Camel<K & string>}${S}`
      : F extends string
        ? F
        : never
    : never;

type MemberOf<C> = C extends Column<unknown, infer M, boolean, string | undefined, string> ? M : never;
type IsNullable<C> = C extends Column<unknown, unknown, true, string | undefined, string> ? true : false;

/** The members of a record: a nullable column is an absent member. */
export type RecordOf<C> = {
  readonly [K in keyof C as IsNullable<C[K]> extends true ? never : FieldOf<K, C[K]>]: MemberOf<C[K]>;
} & {
  readonly [K in keyof C as IsNullable<C[K]> extends true ? FieldOf<K, C[K]> : never]?: MemberOf<C[K]>;
};

/** The row type of a table. */
export type Row<T> = T extends Table<string, infer C> ? RowOf<C> : never;
export type ColumnName<T> = keyof Row<T> & string;

export interface TableSettings<K extends string> {
  /** The columns of the primary key, in order. */
  readonly key: readonly K[];
  /** The columns that a later write changes; by default all but the key. */
  readonly changing?: readonly K[];
}

interface Member {
  readonly column: string;
  /** Undefined for a column that records do not have. */
  readonly field: string | undefined;
  readonly codec: Codec | undefined;
}

export class Table<N extends string, C extends Columns> {
  readonly name: N;
  readonly columns: C;
  readonly names: readonly (keyof C & string)[];
  readonly key: readonly (keyof C & string)[];
  readonly changing: readonly (keyof C & string)[];
  readonly #members: readonly Member[];

  constructor(name: N, columns: C, { key, changing }: TableSettings<keyof C & string>) {
    this.name = name;
    this.columns = columns;
    this.names = Object.keys(columns);
    this.key = key;
    this.changing = changing ?? this.names.filter((column) => !key.includes(column));
    this.#members = this.names.map((column) => {
      const { settings, codec } = columns[column] as AnyColumn;
      const field = settings.field === BY_NAME ? `${camel(column)}${settings.suffix}` : settings.field;
      return { column, field, codec };
    });
  }

  /** Hidden columns are null. */
  readonly toRow = (record: RecordOf<C>): RowOf<C> => {
    const row: Record<string, unknown> = {};
    for (const { column, field, codec } of this.#members) {
      const value = field === undefined ? undefined : (record as Record<string, unknown>)[field];
      if (value === undefined) row[column] = null;
      else row[column] = codec === undefined ? value : codec.write(value as never);
    }
    return row as RowOf<C>;
  };

  /** Of those columns that the row has. */
  readonly toRecord = <R extends Partial<RowOf<C>>>(row: R): RecordOf<Pick<C, keyof R & keyof C>> => {
    const record: Record<string, unknown> = {};
    for (const { column, field, codec } of this.#members) {
      const value = (row as Record<string, unknown>)[column];
      if (field === undefined || value === null || value === undefined) continue;
      record[field] = codec === undefined ? value : codec.read(value as never);
    }
    return record as RecordOf<Pick<C, keyof R & keyof C>>;
  };
}

export function table<N extends string, C extends Columns>(
  name: N,
  columns: C,
  settings: TableSettings<keyof C & string>,
): Table<N, C> {
  return new Table(name, columns, settings);
}

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Any table, of which only the names are used. */
export interface AnyTable {
  readonly name: string;
  readonly columns: Columns;
  readonly names: readonly string[];
  readonly key: readonly string[];
  readonly changing: readonly string[];
}

interface Replacement {
  /** A unique constraint; by default the primary key. */
  readonly by?: readonly string[];
  /** The columns that are replaced; by default `changing`. */
  readonly columns?: readonly string[];
  /** Rows for which this does not hold stay as they are. */
  readonly where?: string;
}

/** After an insert: a row that is there takes the new values. The text is the same in both databases. */
export function replacing(
  table: AnyTable,
  { by = table.key, columns = table.changing, where }: Replacement = {},
): string {
  const sets = columns.map((column) => `${column} = excluded.${column}`).join(", ");
  return `on conflict (${by}) do update set ${sets}${where === undefined ? "" : ` where ${where}`}`;
}

/** After an insert: a row that is there has numbers added to it. */
export function adding(table: AnyTable): string {
  const sets = table.changing.map((column) => `${column} = ${table.name}.${column} + excluded.${column}`).join(", ");
  return `on conflict (${table.key}) do update set ${sets}`;
}
