import { isOwnOrigin } from "../../access/session-cookie.ts";
import { forged, readOnly } from "../../access/session-http.ts";
import type { SessionOutcome } from "../../access/shared-sign-in.ts";
import type { ConsoleSession } from "../../contract/console.ts";
import type { NamesEdit } from "../../contract/updater-page.ts";
import type { Instant } from "../../core/instant.ts";
import { fieldsOfJson } from "../../core/is-object.ts";
import { type PlainRequest, problem } from "../../lib/http/plain-request.ts";
import { createStaticPages } from "../../lib/http/static-pages.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { readHistory } from "../report/history.ts";
import type { Status } from "../report/status.ts";
import { managedRecordsOf } from "../round/managed-records.ts";
import { type AskTools, createAskPublished } from "./ask-published.ts";
import { type ChangeTools, createNamesChanger, type NamesOutcome } from "./change-names.ts";
import { tokenPlaces, writeToken } from "./change-token.ts";
import type { PageReply } from "./listener.ts";
import { readNamesEdit } from "./name-fields.ts";
import { shownConfig } from "./shown-config.ts";

export type PageOptions = {
  readonly config: UpdaterConfig;
  readonly published: AskTools["published"];
  readonly status: () => Status;
  readonly check: () => void;
  /** False if there is no such record, or it is paused. */
  readonly putBack: (title: string) => boolean;
  readonly devices: ChangeTools["devices"];
  /** Absent until the updater watches its config. */
  readonly changing?: Pick<ChangeTools, "checkText" | "adopt">;
  readonly now: () => Instant;
  readonly pages?: string | undefined;
};

/**
 * Who asks: someone with a session, someone who may only look, someone without a session, a foreign page, or anybody if
 * there is nothing to sign in to.
 */
export type PageVisitor = SessionOutcome["kind"] | "reader" | "nobody-asked";

/** Undefined for requests that are not for the page. */
export type UpdaterPage = (request: PlainRequest, asker: PageVisitor) => Promise<PageReply | undefined>;

const checkEvery = 3_000;
const decisionsShown = 300;

type Answers = Readonly<Record<string, (request: PlainRequest) => Promise<PageReply>>>;

/** The page of the updater. Without a sign-in, it can change only the time of the next round. */
export function createUpdaterPage(options: PageOptions): UpdaterPage {
  const { config } = options;
  const isPage = (path: string) => path === "/" || path === "/sign-in" || path === "/account";
  const pages = createStaticPages({ page: "updater", isPage, folder: options.pages });
  const [answers, changes] = [openAnswers(options), changeAnswers(options)];
  return async (request, asker) => {
    const { path } = request;
    // Node omits the body of an answer to HEAD automatically.
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = `${method} ${path}`;
    // If there is a sign-in, this was answered before.
    if (route === "GET /console/session") return { status: 200, body: anybody };
    if (route === "GET /console/services")
      return { status: 200, body: { services: config.control?.links ?? [], byPassword: false } };
    const answer = answers[route] ?? changes[route];
    if (answer === undefined) {
      const { "accept-encoding": encoding, accept } = request.headers;
      return method === "GET" ? pages(path, String(encoding ?? ""), accept) : undefined;
    }
    if (asker === "none") return problem(401, "Sign in first.");
    const isForged = asker === "nobody-asked" && method !== "GET" && !isOwnOrigin(request.headers, "http:");
    if (asker === "forged" || isForged) return forged;
    if (asker === "reader" && method !== "GET") return readOnly;
    return asker === "nobody-asked" && changes[route] ? problem(403, noSignIn) : answer(request);
  };
}

/** For everybody, if there is nothing to sign in to. */
function openAnswers(options: PageOptions): Answers {
  const { config, status, check, now } = options;
  const published = createAskPublished({
    records: managedRecordsOf(config),
    published: options.published,
    stored: () => new Map(status().names.map(({ name, stored, storedAt }) => [name, `${stored} ${storedAt}`])),
    now,
  });
  let checked = Number.NEGATIVE_INFINITY;
  return {
    "GET /page/state": async () => ({ status: 200, body: status() }),
    "GET /page/decisions": async () => {
      const all = await readHistory(config.historyFile);
      return { status: 200, body: { decisions: all.slice(-decisionsShown).toReversed() } };
    },
    "GET /page/config": async () => ({ status: 200, body: shownConfig(config) }),
    "GET /page/tokens": async () => ({ status: 200, body: { places: await tokenPlaces(config) } }),
    "GET /page/published": async () => ({ status: 200, body: { published: await published.ask() } }),
    "POST /page/check": async () => {
      const since = now() - checked;
      if (since >= 0 && since < checkEvery) return problem(429, "A check is already running. Wait a moment.");
      checked = now();
      published.forget();
      check();
      return { status: 202, body: { checking: true } };
    },
    "POST /page/put-back": async ({ body }) => {
      const { name } = fieldsOfJson(body);
      if (typeof name !== "string" || !options.putBack(name)) return problem(404, "There is no such record.");
      published.forget();
      return { status: 202, body: { checking: true } };
    },
  };
}

/** Only for those who have signed in. */
function changeAnswers({ config, devices, published, changing }: PageOptions): Answers {
  const changer = changing && createNamesChanger({ config, devices, published, ...changing });
  return {
    "GET /page/names": async () => (changer ? { status: 200, body: await changer.list() } : starting),
    "POST /page/names/preview": async ({ body }) => change(body, (namesEdit) => changer?.preview(namesEdit)),
    "POST /page/names/write": async ({ body }) => change(body, (namesEdit) => changer?.write(namesEdit)),
    "POST /page/token": async ({ body }) => {
      const { service, token } = fieldsOfJson(body);
      if (typeof service !== "string" || typeof token !== "string") return problem(400, "This is not a token.");
      if (changing === undefined) return starting;
      const outcome = await writeToken(config, service, token);
      if (outcome.kind !== "written") return problem(422, outcome.because);
      changing.adopt();
      return { status: 200, body: {} };
    },
  };
}

const starting = problem(503, "The updater is starting. Try again in a moment.");

const noSignIn =
  "Names and tokens can be changed here only after a sign-in: set `password:` under `control:` in the config.";

/** `make` returns undefined until the updater watches its config. */
async function change(
  body: string,
  make: (namesEdit: NamesEdit) => Promise<NamesOutcome> | undefined,
): Promise<PageReply> {
  const namesEdit = readNamesEdit(fieldsOfJson(body));
  if (namesEdit === undefined) return problem(400, "This is not a change of a name. Reload the page, and try again.");
  const outcome = await make(namesEdit);
  return outcome ? changed(outcome) : starting;
}

function changed(outcome: NamesOutcome): PageReply {
  switch (outcome.kind) {
    case "preview":
      return { status: 200, body: outcome.preview };
    case "written":
      return { status: 200, body: { diff: [], faults: [] } };
    case "outdated":
      return problem(409, "The config file was changed in the meantime. Close this and look at the names again.");
    case "impossible":
      return problem(422, outcome.because);
    default:
      return outcome satisfies never;
  }
}

/** The session of everybody on this machine, if there is nothing to sign in to: it may change nothing. */
const anybody: ConsoleSession = { name: "", hasPassword: true, canReturn: true, privileges: [], csrf: "" };
