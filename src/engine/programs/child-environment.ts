/** Where keys, tokens and the database are; `ASSAY_DATA` and `ASSAY_DATABASE_URL` among them. */
const OWN = /^ASSAY_(DATA(BASE.*)?|.*(KEY|TOKEN|SECRET|PASSWORD|HEADERS).*)$/i;

/** What a program started from here may see of the environment: all but Assay's own keys and database settings. */
export function childEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !OWN.test(entry[0]),
    ),
  );
}
