import { type ChildProcess, spawn } from "node:child_process";

/**
 * The shell of the watchdog. When the host is killed, the pipe to the shell closes, and the shell ends the remaining groups of programs, of which the
 * host informed it. Signals are numbers, because their names differ between shells.
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

/** Ends groups of processes after this process has ended in any way. */
export class Watchdog {
  /** How long a program may take to end after it was asked to. */
  readonly #endSeconds: number;
  #shell: ChildProcess | undefined;

  constructor(endSeconds: number) {
    this.#endSeconds = endSeconds;
  }

  watch(leader: number): void {
    this.#shell ??= this.#started();
    this.#shell.stdin?.write(`+ ${leader}\n`);
  }

  /** The group has ended, and its number may be used for another one. */
  forget(leader: number): void {
    this.#shell?.stdin?.write(`- ${leader}\n`);
  }

  /** Acts as if this process had ended. */
  close(): void {
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #started(): ChildProcess {
    // In a group of its own, so that ctrl-c at a terminal does not end it; without a directory or streams of others.
    const shell = spawn("/bin/sh", ["-c", SCRIPT, "sh", String(this.#endSeconds)], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    // Without the shell, programs of a killed host continue to their end.
    const gone = () => {
      if (this.#shell === shell) this.#shell = undefined;
    };
    shell.once("error", gone);
    shell.once("exit", gone);
    shell.stdin?.on("error", gone);
    shell.unref();
    // A socket, although its type does not show it: it must not keep the process alive.
    (shell.stdin as unknown as { unref?: () => void } | null)?.unref?.();
    return shell;
  }
}

/** The watchdog of this process; its shell is started with the first program. */
export const WATCHDOG = new Watchdog(2);
