import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Times are in milliseconds since 1970. */
export type Pause = { readonly from: number; readonly to: number };

/**
 * Notices when the whole machine stands still, as virtual machines do when their host is busy: then even a separate
 * process with the highest priority, which only looks at the clock every millisecond, is late.
 */
export async function watchMachine() {
  const watcher = fork("--eval", [program], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const pauses: Pause[] = [];
  watcher.on("message", (message: Pause | "ready") => {
    if (message !== "ready") pauses.push(message);
  });
  await once(watcher, "message");
  return {
    /** All pauses until now; then it stops watching. */
    end: async (): Promise<readonly Pause[]> => {
      await sleep(100);
      watcher.kill();
      return pauses;
    },
  };
}

export const clock = (): number => performance.timeOrigin + performance.now();

const program = `
  require("node:os").setPriority(-20);
  const clock = () => performance.timeOrigin + performance.now();
  let last = clock();
  setInterval(() => {
    const now = clock();
    if (now - last > 6) process.send({ from: last, to: now });
    last = now;
  }, 1);
  process.send("ready");
`;
