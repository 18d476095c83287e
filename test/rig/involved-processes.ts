/** A process that a test started, and its output so far. */
export type InvolvedProcess = {
  readonly name: string;
  readonly output: () => string;
  readonly hasEnded: () => boolean;
};

const lineCount = 20;
const involved = new Set<InvolvedProcess>();

/** Every rig that starts a process names it here, so that a failure by time can show what the process printed last. */
export function involve(started: InvolvedProcess): void {
  involved.add(started);
}

/**
 * At the start of a test file: what ended before has nothing to do with its failures. What still runs is shared by
 * files.
 */
export function forgetEnded(): void {
  for (const each of involved) if (each.hasEnded()) involved.delete(each);
}

/** The last lines of every process that the test file started or shares. */
export function lastLines(processes: Iterable<InvolvedProcess> = involved): string {
  return [...processes]
    .map(({ name, output, hasEnded }) => {
      const lines = output().trimEnd().split("\n");
      const title = `--- ${name} (${hasEnded() ? "ended" : "running"}), last lines:`;
      return [title, ...(lines.join("") === "" ? ["(no output)"] : lines.slice(-lineCount))].join("\n");
    })
    .join("\n");
}

/** The messages of a wait that took too long: ours, vitest's for tests, hooks and polls, and Playwright's. */
const byTime = /timed out (?:after|in) \d+ ?ms|did not succeed in time|Timeout \d+ms exceeded|within \d+ ms/;

export type Failure = { message: string; readonly cause?: unknown };

/** Adds the last lines of the processes to each failure by time. */
export function explainTimeouts(failures: readonly Failure[], lines: () => string = lastLines): void {
  for (const failure of failures) {
    const { message: reason = "" } = (failure.cause ?? {}) as { readonly message?: string };
    if (!byTime.test(`${failure.message}\n${reason}`) || failure.message.includes("last lines:")) continue;
    const found = lines();
    if (found !== "") failure.message += `\n${found}`;
  }
}
