import { isOwnOrigin } from "../../access/session-cookie.ts";
import { forged, problem } from "../../access/session-http.ts";
import type { SessionFound } from "../../access/shared-sign-in.ts";
import type { ConsoleSession } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import type { PlainRequest } from "../../process/http/plain-request.ts";
import { createStaticPages } from "../../process/http/static-pages.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { readHistory } from "../report/history.ts";
import type { Status } from "../report/status.ts";
import { subjectsOf } from "../round/subjects.ts";
import { type AskTools, createAskPublished } from "./ask-published.ts";
import type { Reply } from "./door.ts";
import { shownConfig } from "./shown-config.ts";

export type PageOptions = {
  readonly config: UpdaterConfig;
  readonly published: AskTools["published"];
  readonly status: () => Status;
  readonly check: () => void;
  readonly now: () => Instant;
  readonly pages?: string | undefined;
};

/** Who asks: someone with a session, someone without one, a foreign page, or anybody if there is nothing to sign in to. */
export type Asker = SessionFound["kind"] | "nobody-asked";

/** Undefined for requests that are not for the page. */
export type UpdaterPage = (request: PlainRequest, asker: Asker) => Promise<Reply | undefined>;

const checkEvery = 3_000;
const decisionsShown = 300;

/** The page of the updater. Without a sign-in, all that it can change is the time of the next round. */
export function createUpdaterPage(options: PageOptions): UpdaterPage {
  const { config, status, check, now } = options;
  const isPage = (path: string) => path === "/" || path === "/sign-in";
  const pages = createStaticPages({ page: "updater", isPage, folder: options.pages });
  const published = createAskPublished({
    subjects: subjectsOf(config),
    published: options.published,
    stored: () => new Map(status().names.map(({ name, stored }) => [name, stored])),
    now,
  });
  let checked = Number.NEGATIVE_INFINITY;

  const answers: Readonly<Record<string, (request: PlainRequest) => Promise<Reply>>> = {
    "GET /page/state": async () => ({ status: 200, body: status() }),
    "GET /page/decisions": async () => {
      const all = await readHistory(config.historyFile);
      return { status: 200, body: { decisions: all.slice(-decisionsShown).toReversed() } };
    },
    "GET /page/config": async () => ({ status: 200, body: shownConfig(config) }),
    "GET /page/published": async () => ({ status: 200, body: { published: await published.ask() } }),
    "POST /page/check": async () => {
      const since = now() - checked;
      if (since >= 0 && since < checkEvery) return problem(429, "A check is already running. Wait a moment.");
      checked = now();
      published.forget();
      check();
      return { status: 202, body: { checking: true } };
    },
  };

  return async (request, asker) => {
    const { path } = request;
    // Node omits the body of an answer to HEAD automatically.
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = `${method} ${path}`;
    // With something to sign in to, this was answered before.
    if (route === "GET /console/session") return { status: 200, body: anybody };
    if (route === "GET /console/services") return { status: 200, body: { services: [], byPassword: false } };
    const answer = answers[route];
    if (answer === undefined)
      return method === "GET" ? pages(path, String(request.headers["accept-encoding"] ?? "")) : undefined;
    if (asker === "none") return problem(401, "Sign in first.");
    const isForged = asker === "nobody-asked" && method !== "GET" && !isOwnOrigin(request.headers);
    return asker === "forged" || isForged ? forged : answer(request);
  };
}

/** The session of everybody on this machine, if there is nothing to sign in to: it may change nothing. */
const anybody: ConsoleSession = { name: "", hasPassword: true, canReturn: true, privileges: [], csrf: "" };
