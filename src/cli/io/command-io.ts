/** All that a command sees of the process it runs in. */
export type CommandIo = {
  /** What to type to run moor again, from `cwd`. */
  readonly program: string;
  /** In a clone, the shell script that runs moor; installed, it is on the PATH. */
  readonly script?: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Whether a person sits there who can be asked. Otherwise what is printed may be kept for others to read: no secret may be among it. */
  readonly isTerminal?: boolean;
  /** Calls `act` each time that signal arrives. */
  readonly onSignal?: (name: "SIGHUP" | "SIGUSR1", act: () => void) => void;
};

/** Runs a verb and keeps its exit code. */
export type Run = (verb: () => Promise<number>) => Promise<void>;

/** Says why a command cannot be done. 1: it was tried and failed. 2: what was typed cannot be understood. */
export function refuse(code: 1 | 2, why: string, io: CommandIo): number {
  io.err(`${why}\n`);
  return code;
}

/** `list` is what to type to see those that there are. */
export const noneToRevoke = (what: string, id: string, list: string, io: CommandIo): number =>
  refuse(1, `There is no ${what} ${id} that could be revoked; ${io.program} ${list} shows those there are.`, io);
