import { createToken } from "../../access/secret.ts";
import { type ListenAddress, listenTrouble, urlOf } from "../../process/listen-address.ts";
import type { Logger } from "../../process/log.ts";
import { noLog } from "../../process/log.ts";
import type { Opened } from "../../process/shutdown.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import { openControl } from "../../updater/report/control.ts";
import { openHistory } from "../../updater/report/history.ts";
import { createUpdaterPage } from "../../updater/report/http-page.ts";
import { createReporter, type Notice, type Reporter } from "../../updater/report/reporter.ts";
import { createStatusKeeper } from "../../updater/report/status.ts";
import type { Round } from "../../updater/round/result.ts";
import type { StateFile } from "../../updater/round/state-file.ts";
import type { Updater, WatchOptions } from "../../updater/updater.ts";

/** The updater's page in `moor up`, and what reports to it. */
export type UpPage = {
  /** Undefined if the page cannot be served; the names are updated anyway. */
  readonly url: string | undefined;
  /** For a round that was printed already: it goes only to the history. */
  readonly onFirstRound: (round: Round) => void;
  readonly onRound: NonNullable<WatchOptions["onRound"]>;
  readonly reporter: Reporter;
};

export type Watched = { readonly config: UpdaterConfig; readonly updater: Updater; readonly state: StateFile };

export async function openUpPage(watched: Watched, at: ListenAddress, log: Logger, opened: Opened[]): Promise<UpPage> {
  const { config, updater, state } = watched;
  const status = createStatusKeeper(Date.now);
  const history = openHistory(config.historyFile, (because) => log.warn({ because }, "the history cannot be written"));
  const asked = { status: () => status.now(), check: updater.check, silence: () => status.silence() };
  const page = createUpdaterPage({ config, published: updater.published, now: Date.now, ...asked });
  // Required, but not used: the page needs no token.
  const token = createToken();
  const control = await openControl({ ...at, token: () => token }, { ...asked, of: config, page }).catch(
    (error: Error) => {
      log.warn({ because: listenTrouble(error, at, "--updater") }, "the page of the updater is not served");
      return undefined;
    },
  );
  if (control) opened.push({ name: "updater's page", close: () => control.close() });
  opened.push({ name: "history", close: () => history.settled() });
  const onRound = (round: Round, next: number) => status.note(round, state, next);
  const keep = (notice: Notice) => history.add(notice, new Date());
  return {
    url: control && urlOf({ host: at.host, port: control.port }, "http"),
    onFirstRound: (round) => {
      onRound(round, Date.now());
      createReporter(noLog, keep).report(round);
    },
    onRound,
    reporter: createReporter(log, keep),
  };
}
