// @ts-check

/**
 * Everything in the schema `public` as SQL: tables, constraints, indexes, rows. The embedded PostgreSQL brings no pg_dump.
 * @param {import("pg").Client} client
 */
export async function dump(client) {
  /** @param {string} text @param {unknown[]} [values] */
  const rows = async (text, values = []) => (await client.query(text, values)).rows;
  const lines = [];
  const tables = await rows(
    "select relname as name, oid::int as oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
  );
  for (const { name, oid } of tables) {
    const columns = await rows(
      `select quote_ident(attname) as name, format_type(atttypid, atttypmod) as type, attnotnull as required,
              attgenerated as generated, pg_get_expr(adbin, adrelid) as value
         from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
        where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`,
      [oid],
    );
    const described = columns.map(({ name: column, type, required, generated, value }) => {
      const expression = generated === "" ? `default ${value}` : `generated always as (${value}) stored`;
      return `${column} ${type}${value === null ? "" : ` ${expression}`}${required ? " not null" : ""}`;
    });
    lines.push(`create table ${name} (${described.join(", ")});`);
    const kept = columns.filter(({ generated }) => generated === "").map(({ name: column }) => column);
    const quoted = kept.map((column) => `quote_nullable(${column}::text)`).join(" || ', ' || ");
    for (const { row } of await rows(`select ${quoted} as row from ${name}`)) {
      lines.push(`insert into ${name} (${kept.join(", ")}) values (${row});`);
    }
  }
  // Not-null constraints stand at their columns.
  const constraints = await rows(
    "select conrelid::regclass as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n' order by contype desc, 2",
  );
  for (const one of constraints) lines.push(`alter table ${one.table} add constraint ${one.name} ${one.definition};`);
  const indexes = await rows(
    "select indexdef from pg_indexes where schemaname = 'public' and indexname not in (select conname from pg_constraint) order by indexname",
  );
  for (const { indexdef } of indexes) lines.push(`${indexdef};`);
  return `${lines.join("\n")}\n`;
}
