import { createLog } from "../../src/process/log.ts";
import { keepNames } from "../../src/updater/keep-names.ts";
import { createPageKeeper } from "../../src/updater/page/keep-page.ts";
import { createPageListener, type PageListener } from "../../src/updater/page/listener.ts";
import { readConfig } from "../../src/updater/read-config.ts";
import { openStateFile } from "../../src/updater/round/state-file.ts";
import type { Loop } from "../rig/updater/loop.ts";

type Line = { readonly level: string; readonly msg: string; readonly page?: string } & Readonly<
  Record<string, unknown>
>;

/** A whole watcher on the config of a loop, and its output. */
export type Watcher = {
  readonly lines: readonly Line[];
  /** Requests a round, as SIGUSR1 and the page do. */
  readonly check: () => void;
  /** Its page and the answers of its port, if the config has one. */
  readonly page: () => string;
  readonly ask: (path: string) => Promise<string>;
  readonly stop: () => Promise<void>;
};

/** `pages`: where the built pages are. `onAsked` is called for every request that its port begins to answer. */
export type WatcherWish = { readonly patience?: number; readonly pages?: string; readonly onAsked?: () => void };

/** Without patience, people are notified immediately. */
export async function startWatcher(loop: Loop, { patience = 0, pages, onAsked }: WatcherWish = {}): Promise<Watcher> {
  const reload = (instead?: string) => readConfig("moor.yaml", {}, loop.folder, instead);
  const config = reload();
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const opened = await openStateFile(config.value.stateFile, Date.now(), { write: true });
  if (opened.kind !== "open") throw new Error(opened.because);
  const lines: Line[] = [];
  const log = createLog({ format: "json", write: (line: string) => void lines.push(JSON.parse(line)) });
  const stop = new AbortController();
  let check: () => void = () => undefined;
  const onRequest = (requests: { readonly check: () => void }) => {
    check = requests.check;
  };
  const tools = { state: opened.state, log, now: Date.now, random: () => 0, host: "here", env: {}, patience };
  const shown = pages === undefined ? {} : { pages };
  const keeper = createPageKeeper({
    log,
    now: Date.now,
    ...shown,
    listener: tellingDoor(createPageListener(log), onAsked),
  });
  const running = keepNames(config.value, { ...tools, page: keeper, reload, onRequest }, stop.signal);
  const page = () => lines.find((line) => line.page !== undefined)?.page ?? "";
  return {
    lines,
    check: () => check(),
    page,
    ask: async (path) => (await fetch(page() + path)).text(),
    async stop() {
      stop.abort();
      await running;
      await keeper.close();
    },
  };
}

const tellingDoor = (listener: PageListener, onAsked: () => void = () => undefined): PageListener => ({
  ...listener,
  serve: (config, answer) =>
    listener.serve(config, (request) => {
      onAsked();
      return answer(request);
    }),
});
