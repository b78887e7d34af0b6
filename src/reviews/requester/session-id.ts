const LENGTH_MAX = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/**
 * Whether a session id is safe on a command line. Ids are foreign text: one that looks like a flag would be taken for one, and the
 * real command takes an empty one for the wish to begin a new session.
 */
export function isUsableSession(id: string): boolean {
  return id !== "" && id.length <= LENGTH_MAX && !id.startsWith("-") && !BLANK_OR_CONTROL.test(id);
}
