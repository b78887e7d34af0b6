/** An argument that is the name of an option, and so no value of the option before it. */
export function isOption(argument: string): boolean {
  return /^(?:--|-[A-Za-z]$)/.test(argument);
}

/** What is right at `-p` and makes another option of it: `-path`, `-port=22`. */
export const WORD_ATTACHED = /[a-z]{1,40}(?:=|[\s"']|$)/;

/** The beginning of a command line, or of a list of its arguments. */
const CONTAINER =
  /\b(?:docker|podman|nerdctl)(?:["',\s]+compose)?["',\s]+(?:run|exec|create)(?:["',\s]+-[^\s"',]+)*["',\s]*$/;

/**
 * Whether `name:name` after this part of a command line is a user and a group: programs for containers have no logins there. Only options may
 * stand between: behind the image, the options are those of another program.
 */
export function isUserAndGroup(before: string): boolean {
  return CONTAINER.test(before);
}
