import type { UpdaterConfig } from "../config/config.ts";
import { notReadYet } from "../round/choose-for.ts";
import type { Heartbeats, Wellness } from "./heartbeats.ts";
import type { Notifiers, NotifierTools } from "./notifiers.ts";
import type { Notify } from "./reporter.ts";
import type { Status } from "./status.ts";

/** How the watcher reports besides its log: notices, programs and heartbeats. They outlive a reload of the config. */
export type Outlets = {
  /** Continues with this config. Only what it asks for is loaded. */
  readonly adopt: (config: UpdaterConfig) => Promise<void>;
  readonly notify: Notify;
  close(): Promise<void>;
};

export type OutletTools = NotifierTools & { readonly status: () => Status };

export function openOutlets(tools: OutletTools): Outlets {
  let notifiers: Notifiers | undefined;
  let heartbeats: Heartbeats | undefined;
  return {
    async adopt(config) {
      if (!notifiers && config.notify.length + config.run.length > 0)
        notifiers = new (await import("./notifiers.ts")).Notifiers(tools);
      await notifiers?.adopt(config);
      heartbeats?.close();
      const wellness = () => wellnessOf(tools.status());
      heartbeats =
        config.heartbeats.length === 0
          ? undefined
          : await (await import("./heartbeats.ts")).openHeartbeats(config.heartbeats, wellness, tools.log);
    },
    notify: (notice) => notifiers?.notify(notice),
    async close() {
      heartbeats?.close();
      await notifiers?.close();
    },
  };
}

/** Whether anybody is to be told about changes of addresses. */
export const reportsChanges = ({ notify, run }: UpdaterConfig): boolean =>
  [...notify, ...run].some(({ on }) => on?.includes("changed"));

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
