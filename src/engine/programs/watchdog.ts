import { type ChildProcess, spawn } from "node:child_process";

/**
 * A host that is killed can do nothing any more, but the pipe it held closes. The shell at the other end was told of the group of every
 * program, and ends those that are left. Signals by number, since shells do not agree on their names.
 */
const SCRIPT = `
groups=" "
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
case $groups in *[0-9]*) ;; *) exit ;; esac
for group in $groups; do kill -15 "-$group"; done
sleep "$1"
for group in $groups; do kill -9 "-$group"; done
`;

/** Ends groups of processes when this process is gone, whatever ended it. */
export class Watchdog {
  /** How long a program may take to end that is asked to. */
  readonly #endSeconds: number;
  #shell: ChildProcess | undefined;

  constructor(endSeconds: number) {
    this.#endSeconds = endSeconds;
  }

  watch(leader: number): void {
    this.#shell ??= this.#started();
    this.#shell.stdin?.write(`+ ${leader}\n`);
  }

  /** The group is no more, and its number may soon be that of another one. */
  forget(leader: number): void {
    this.#shell?.stdin?.write(`- ${leader}\n`);
  }

  /** As if this process were gone. */
  close(): void {
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #started(): ChildProcess {
    // In a group of its own, so that ctrl-c at a terminal does not end it; and it holds nobody's directory or streams.
    const shell = spawn("/bin/sh", ["-c", SCRIPT, "sh", String(this.#endSeconds)], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    // Without a shell, or when somebody ended it, programs of a host that is killed go on to their end.
    const gone = () => {
      if (this.#shell === shell) this.#shell = undefined;
    };
    shell.once("error", gone);
    shell.once("exit", gone);
    shell.stdin?.on("error", gone);
    shell.unref();
    // A socket, although its type does not say so: a process that has nothing else to do is free to end.
    (shell.stdin as unknown as { unref?: () => void } | null)?.unref?.();
    return shell;
  }
}

/** One for all programs of this process; its shell is not started before the first of them. */
export const WATCHDOG = new Watchdog(2);
