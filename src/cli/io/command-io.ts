/** Everything that a command uses of the process it runs in. */
export type CommandIo = {
  /** What to type to run moor again, from `cwd`. */
  readonly program: string;
  /** In a clone, the shell script that runs moor; for a single executable, its file. Absent if moor is on the PATH. */
  readonly script?: string;
  /** The commit that was built. Absent in a clone, where git knows it. */
  readonly commit?: string | undefined;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /**
   * Whether a person can be asked. If not, the output may end up in a log that others read, so it must contain no
   * secret.
   */
  readonly isTerminal?: boolean;
  /** Calls `act` each time that signal arrives. */
  readonly onSignal?: (name: "SIGHUP" | "SIGUSR1", act: () => void) => void;
};

/** Runs a verb and keeps its exit code. */
export type Run = (verb: () => Promise<number>) => Promise<void>;

/** Prints why a command is refused, and returns its exit code. 1: it failed. 2: the command line is not valid. */
export function refuse(code: 1 | 2, why: string, io: CommandIo): number {
  io.err(`${why}\n`);
  return code;
}

/** `list` is the command that lists what exists. */
export const noneToRevoke = (what: string, id: string, list: string, io: CommandIo): number =>
  refuse(1, `There is no ${what} ${id} to revoke; ${io.program} ${list} lists the existing ones.`, io);
