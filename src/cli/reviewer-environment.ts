import type { Environment } from "./config.ts";
import { type Config, environmentNameOf } from "./settings.ts";
import { withoutSecrets } from "./tape/recorder.ts";

/** Keys and the database are ours alone, under whatever name they are kept. */
export function reviewerEnvironment(
  env: Environment,
  { reviewModelKeyEnv, databaseUrl }: Pick<Config, "reviewModelKeyEnv" | "databaseUrl">,
): Environment {
  // Where there is a PostgreSQL of ours, what its client goes by is ours too.
  const isOurs = (name: string) =>
    name === reviewModelKeyEnv || OURS.test(name) || (databaseUrl !== undefined && /^PG[A-Z]+$/.test(name));
  return Object.fromEntries(Object.entries(withoutSecrets(env)).filter(([name]) => !isOurs(name)));
}

const OURS = new RegExp(`^(?:ASSAY_.*(?:KEY|DATABASE|TOKEN).*|${environmentNameOf("data")})$`);
