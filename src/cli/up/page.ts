import type { Opened } from "../../process/lifecycle.ts";
import type { Logger } from "../../process/log.ts";
import { noLog } from "../../process/log.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import { createPageKeeper, type PageKeeper } from "../../updater/page/keep-page.ts";
import { createPageListener } from "../../updater/page/listener.ts";
import { openPasskeyFile } from "../../updater/page/passkey-file.ts";
import { openPageSignIn } from "../../updater/page/sign-in.ts";
import { openHistory } from "../../updater/report/history.ts";
import { Reporter } from "../../updater/report/reporter.ts";
import { createStatusKeeper } from "../../updater/report/status.ts";
import type { Round } from "../../updater/round/result.ts";
import type { StateFile } from "../../updater/round/state-file.ts";
import type { Updater } from "../../updater/updater.ts";
import type { Together } from "./together.ts";

/** The updater's page in `moor up`. */
export type UpPage = {
  readonly keeper: PageKeeper;
  /** Undefined if the page cannot be served; the names are updated anyway. */
  readonly url: string | undefined;
  /** For a round that was printed already: it goes only to the history. */
  readonly onFirstRound: (round: Round) => Promise<void>;
};

export type Watched = { readonly config: UpdaterConfig; readonly updater: Updater; readonly state: StateFile };

/** Opened before the first round, so that the URL can be printed. */
export async function openUpPage(
  { config, updater, state }: Watched,
  { log, opened, pagesOf, following }: Together & { readonly log: Logger; readonly opened: Opened[] },
): Promise<UpPage> {
  const status = createStatusKeeper(Date.now);
  const updaterState = { status: () => status.now(), check: updater.retryNow, silence: () => status.silence() };
  // Where the page is has its place in what `moor up` prints.
  const quiet = { ...log, info: () => undefined };
  const file = openPasskeyFile(config, log);
  if (file) opened.push({ name: "passkeys of the updater's page", close: file.close });
  const signIn = openPageSignIn({ log, now: Date.now, passkeys: file?.passkeys, ...pagesOf("updater") });
  const keeper = following(
    createPageKeeper({ log, now: Date.now, listener: createPageListener(quiet, "--updater"), signIn }),
  );
  const { published, putBack, devices } = updater;
  const url = await keeper.serve(config, { published, putBack, devices, ...updaterState });
  opened.push({ name: "updater's page", close: keeper.close });
  return {
    keeper,
    url,
    onFirstRound: async (round) => {
      status.note(round, state, Date.now());
      const history = openHistory(config.historyFile, () => undefined);
      new Reporter(noLog, (notice) => history.add(notice, new Date())).report(round);
      await history.settled();
    },
  };
}
