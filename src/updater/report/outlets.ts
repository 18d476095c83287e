import { listenTrouble, urlOf } from "../../process/listen-address.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { ControlConfig } from "../config/outlets.ts";
import { notReadYet } from "../round/choose-for.ts";
import type { ControlTools } from "./control.ts";
import type { Wellness } from "./heartbeats.ts";
import type { UpdaterPage } from "./http-page.ts";
import type { Notify } from "./reporter.ts";
import type { Status } from "./status.ts";

/** How the watcher reports besides its log: notices, heartbeats and the status page. Only what the config asks for is loaded. */
export type Outlets = { readonly notify: Notify; close(): Promise<void> };

export type OutletTools = {
  readonly log: Logger;
  readonly host: string;
  readonly random: () => number;
  readonly status: () => Status;
  readonly check: () => void;
  readonly silence: ControlTools["silence"];
  /** The page for people; loaded when it is opened. */
  readonly page?: UpdaterPage;
};

export async function openOutlets(config: UpdaterConfig, tools: OutletTools): Promise<Outlets> {
  const { log, host, random, status } = tools;
  const notifiers =
    config.notify.length === 0
      ? undefined
      : await (await import("./notifiers.ts")).openNotifiers(config.notify, host, log, random);
  const heartbeats =
    config.heartbeats.length === 0
      ? undefined
      : await (await import("./heartbeats.ts")).openHeartbeats(config.heartbeats, () => wellnessOf(status()), log);
  const control = config.control && (await openControl(config.control, { ...tools, of: config }));
  return {
    notify: (notice) => notifiers?.notify(notice),
    async close() {
      notifiers?.close();
      heartbeats?.close();
      await control?.close();
    },
  };
}

/** Names are still updated if the port is taken. */
async function openControl(config: ControlConfig, tools: OutletTools & Pick<ControlTools, "of">) {
  try {
    const control = await (await import("./control.ts")).openControl(config, tools);
    const page = `${urlOf({ host: config.host, port: control.port }, "http")}/`;
    tools.log.info({ page }, "the status page is available");
    return control;
  } catch (error) {
    const because = listenTrouble(error as NodeJS.ErrnoException, config, "control: listen:");
    tools.log.warn({ because }, "the status page is unavailable");
    return undefined;
  }
}

/** Undefined until the first round has ended and every source has answered or failed once. */
function wellnessOf({ rounds, names, sources }: Status): Wellness | undefined {
  if (rounds === 0 || sources.some(({ called, because }) => because === notReadYet(called))) return undefined;
  const troubles = [
    ...sources.filter(({ up }) => !up).map(({ source, because }) => `${source}: ${because}`),
    ...names.filter(({ ok }) => !ok).map(({ name, because }) => `${name}: ${because}`),
  ];
  return { isWell: troubles.length === 0, message: troubles.join("\n") || `${names.length} records are up to date` };
}
