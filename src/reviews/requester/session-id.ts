const LENGTH_MAX = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/**
 * Whether a session may be named on a command line. It is somebody else's text: one that looks like a flag would be taken for one, and the
 * real command takes an empty one for the wish to begin anew.
 */
export function isUsableSession(id: string): boolean {
  return id !== "" && id.length <= LENGTH_MAX && !id.startsWith("-") && !BLANK_OR_CONTROL.test(id);
}
