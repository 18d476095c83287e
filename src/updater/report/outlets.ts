import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { notReadYet } from "../round/choose-for.ts";
import type { Wellness } from "./heartbeats.ts";
import type { Notify } from "./reporter.ts";
import type { Status } from "./status.ts";

/** How the watcher reports besides its log: notices and heartbeats. Only what the config asks for is loaded. */
export type Outlets = { readonly notify: Notify; close(): void };

export type OutletTools = {
  readonly log: Logger;
  readonly host: string;
  readonly random: () => number;
  readonly status: () => Status;
};

export async function openOutlets(config: UpdaterConfig, tools: OutletTools): Promise<Outlets> {
  const { log, host, random, status } = tools;
  const notifiers =
    config.notify.length + config.run.length === 0
      ? undefined
      : await (await import("./notifiers.ts")).openNotifiers(config, host, log, random);
  const heartbeats =
    config.heartbeats.length === 0
      ? undefined
      : await (await import("./heartbeats.ts")).openHeartbeats(config.heartbeats, () => wellnessOf(status()), log);
  return {
    notify: (notice) => notifiers?.notify(notice),
    close() {
      notifiers?.close();
      heartbeats?.close();
    },
  };
}

/** Undefined until the first round has ended and every source has answered or failed once. */
function wellnessOf({ rounds, names, sources }: Status): Wellness | undefined {
  if (rounds === 0 || sources.some(({ called, because }) => because === notReadYet(called))) return undefined;
  const troubles = [
    ...sources.filter(({ up }) => !up).map(({ source, because }) => `${source}: ${because}`),
    ...names.filter(({ ok }) => !ok).map(({ name, because }) => `${name}: ${because}`),
  ];
  return {
    isWell: troubles.length === 0,
    message: troubles.join("\n") || `all records are up to date (${names.length})`,
  };
}
