import type { IncomingMessage } from "node:http";
import { isOwnOrigin } from "../../access/session-cookie.ts";
import type { Instant } from "../../core/instant.ts";
import { createStaticPages } from "../../process/http/static-pages.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { subjectsOf } from "../round/subjects.ts";
import { type AskTools, createAskPublished } from "./ask-published.ts";
import { readHistory } from "./history.ts";
import { shownConfig } from "./shown-config.ts";
import type { Status } from "./status.ts";

export type PageOptions = {
  readonly config: UpdaterConfig;
  readonly published: AskTools["published"];
  readonly status: () => Status;
  readonly check: () => void;
  readonly now: () => Instant;
  readonly pages?: string | undefined;
};

export type Reply = {
  readonly status: number;
  /** Strings and bytes are sent as they are, anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Undefined for requests that are not for the page. */
export type UpdaterPage = (request: IncomingMessage) => Promise<Reply | undefined>;

const checkEvery = 3_000;
const decisionsShown = 300;

/**
 * The page of the updater. Like the rest of the port, it is served to this machine only. All it can change is the time
 * of the next round.
 */
export function createUpdaterPage(options: PageOptions): UpdaterPage {
  const { config, status, check, now } = options;
  const pages = createStaticPages({ page: "updater", isPage: (path) => path === "/", folder: options.pages });
  const published = createAskPublished({
    subjects: subjectsOf(config),
    published: options.published,
    stored: () => new Map(status().names.map(({ name, stored }) => [name, stored])),
    now,
  });
  let checked = Number.NEGATIVE_INFINITY;

  const answers: Readonly<Record<string, (request: IncomingMessage) => Promise<Reply>>> = {
    "GET /page/state": async () => ({ status: 200, body: status() }),
    "GET /page/decisions": async () => {
      const all = await readHistory(config.historyFile);
      return { status: 200, body: { decisions: all.slice(-decisionsShown).toReversed() } };
    },
    "GET /page/config": async () => ({ status: 200, body: shownConfig(config) }),
    "GET /page/published": async () => ({ status: 200, body: { published: await published.ask() } }),
    "POST /page/check": async (request) => {
      if (!isOwnOrigin(request.headers))
        return refused(403, "only the page itself may use this; use POST /check instead");
      const since = now() - checked;
      if (since >= 0 && since < checkEvery) return refused(429, "A check is already running. Wait a moment.");
      checked = now();
      published.forget();
      check();
      return { status: 202, body: { checking: true } };
    },
  };

  return async (request) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    // Node omits the body of an answer to HEAD automatically.
    const method = request.method === "HEAD" ? "GET" : request.method;
    const answer = answers[`${method} ${path}`];
    if (answer !== undefined) return answer(request);
    return method === "GET" ? pages(path, String(request.headers["accept-encoding"] ?? "")) : undefined;
  };
}

const refused = (status: number, message: string): Reply => ({ status, body: { error: { message } } });
