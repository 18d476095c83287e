import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createSignIn, forged, oidcLogoutPath, readOnly } from "../../access/session-http.ts";
import type { SharedGuesses } from "../../access/session-throttle.ts";
import { type ServiceLink, setsPerConsolePage } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import { jsonOf } from "../../core/is-object.ts";
import type { Quotas } from "../../core/quotas.ts";
import { faultInWords } from "../../core/result.ts";
import type { FindDelegation } from "../../lib/dns/delegation.ts";
import { json, type PlainAnswer, type PlainRequest, problem, zipAnswer } from "../../lib/http/plain-request.ts";
import { createStaticPages } from "../../lib/http/static-pages.ts";
import { type CallLimits, takeCall } from "../../lib/limits/rate-limit.ts";
import type { Logger } from "../../process/log.ts";
import { setToWire } from "../api/rrsets/wire.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { RecordService } from "../service.ts";
import type { RecordStore } from "../store/port.ts";
import { createDelegationChecks } from "./delegation.ts";
import { answerHistory, type HistoryRequest } from "./history.ts";
import { createOverview, type KnownUpdater, type SigningTroubles } from "./overview.ts";
import { type ConsoleSessions, isPlainHttp } from "./sessions.ts";
import { consoleTokens, readTokenInput, readTokenListQuery } from "./tokens.ts";

export type ConsoleOptions = {
  readonly store: RecordStore;
  readonly service: RecordService;
  readonly findDelegation: FindDelegation;
  readonly sessions: ConsoleSessions;
  /** The other services that this one knows of. */
  readonly services: (() => readonly ServiceLink[]) | undefined;
  /** The names under which people reach this service. */
  readonly names: readonly string[];
  /** An updater in the same process. */
  readonly updater: (() => KnownUpdater | undefined) | undefined;
  readonly signing?: SigningTroubles;
  readonly guesses: SharedGuesses | undefined;
  readonly limits?: CallLimits;
  readonly quotas?: Quotas;
  readonly now: () => Instant;
  readonly log: Logger;
  /** The CA certificate that clients must trust, as PEM; absent behind a proxy that terminates TLS. */
  readonly readCa: (() => Promise<string>) | undefined;
  /** The folder of the built pages, if not beside this program. */
  readonly pages: string | undefined;
};

/**
 * The pages, and what they need beyond the public APIs: sign-in, sessions, tokens, the overview, whole zones, the
 * history by write and delegations.
 */
export function serveConsole(options: ConsoleOptions) {
  const pages = createStaticPages({ page: "records", isPage: (path) => pagePaths.test(path), folder: options.pages });
  const answerTo = createAnswering(options);
  return async (server: FastifyInstance): Promise<void> => {
    addBodyParsers(server);
    serveReads(server, options);
    server.all("/console/*", { schema: { hide: true } }, async (request, reply) =>
      send(reply, (await answerTo(toPlain(request))) ?? problem(404, "Not found.")),
    );
    servePages(server, pages);
  };
}

function addBodyParsers(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  // A form on another site cannot send this type without a CORS preflight.
  server.addContentTypeParser("application/json", { parseAs: "string", bodyLimit: 64 * 1024 }, (_request, body, done) =>
    done(null, body),
  );
  server.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 64 * 1024 },
    ({ url }, body, done) => done(url === oidcLogoutPath ? null : wrongType, body),
  );
}

/** What a page reads with parameters in its address. */
function serveReads(server: FastifyInstance, options: ConsoleOptions): void {
  const { service, store, now, sessions } = options;
  const tokens = consoleTokens(store, now);
  const tooFast = createTooFast(options);
  const checkDelegation = createDelegationChecks(options.findDelegation, service.nameservers, now);
  const ofZone = {
    writes: (actor, request) => answerHistory(service, actor, request),
    rrsets: (actor, request) => answerSets(service, actor, request),
    delegation: async ({ account }, { zone: name }) => {
      const zone = await store.zoneBy(account, { name });
      return zone ? json(200, await checkDelegation(zone.name, account)) : problem(404, "There is no such zone.");
    },
  } satisfies Record<string, (actor: Actor, request: HistoryRequest) => Promise<PlainAnswer>>;
  const answerGet = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: (actor: Actor) => Promise<PlainAnswer>,
  ) => {
    const actor = await sessions.actorOf(request);
    if (actor === "forged" || actor === "none") return send(reply, notSignedIn);
    const answered = (await tooFast(actor, request.ip)) ?? (await answer(actor));
    return send(reply, await zipAnswer(answered, request.headers["accept-encoding"]));
  };
  for (const [what, answer] of Object.entries(ofZone)) {
    server.get<{ Params: { zone: string } }>(`/console/zones/:zone/${what}`, hidden, (request, reply) => {
      const { params, query } = request;
      return answerGet(request, reply, (actor) => answer(actor, { zone: params.zone.toLowerCase(), query }));
    });
  }
  server.get("/console/tokens", hidden, (request, reply) =>
    answerGet(request, reply, async ({ account }) =>
      json(200, await tokens.list(account, readTokenListQuery(new URL(request.url, "http://x").searchParams))),
    ),
  );
}

function servePages(server: FastifyInstance, pages: ReturnType<typeof createStaticPages>): void {
  const paths = ["/", "/sign-in", "/tokens", "/tokens/", "/account", "/account/", "/zones", "/zones/*", "/assets/*"];
  for (const path of paths) {
    server.get(path, hidden, async (request, reply) => {
      const { "accept-encoding": encoding, accept } = request.headers;
      const answer = await pages(pathOf(request), encoding, accept);
      return send(reply, answer ?? problem(404, "Not found."));
    });
  }
}

/** What people see who mistype a path; undefined for programs. */
export function createUnknownPage(folder: string | undefined) {
  const pages = createStaticPages({ page: "records", isPage: () => false, folder });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { "accept-encoding": encoding, accept } = request.headers;
    const answer = request.method === "GET" ? await pages(pathOf(request), encoding, accept) : undefined;
    return answer && send(reply, answer);
  };
}

const wrongType = Object.assign(new Error("send application/json"), { statusCode: 415 });

const hidden = { schema: { hide: true } };

const pagePaths = /^\/(?:sign-in|tokens|account|zones(?:\/[^/]+){0,2})?\/?$/;

/** The answer to a session that has sent too many requests. */
const createTooFast =
  ({ limits, now }: Pick<ConsoleOptions, "limits" | "now">) =>
  async (caller: Pick<Actor, "session" | "account">, from: string): Promise<PlainAnswer | undefined> => {
    const retryAfter = (await takeCall(limits, caller, from, now()))?.retryAfter;
    if (retryAfter === undefined) return undefined;
    const answer = problem(429, `Too many requests. Try again in ${retryAfter} s.`);
    return { ...answer, headers: { ...answer.headers, "retry-after": String(retryAfter) } };
  };

function createAnswering(options: ConsoleOptions) {
  const { store, sessions, services, names, updater, signing, guesses, quotas, now, log, readCa } = options;
  const tooFast = createTooFast(options);
  const tokens = consoleTokens(store, now);
  const overview = createOverview({ store, now, updater: updater ?? (() => undefined), signing });
  const signIn = createSignIn({
    entrance: sessions.entrance,
    people: sessions.people,
    provider: sessions.provider,
    services,
    names,
    guesses,
    mostPasskeys: quotas?.passkeys,
    challengeKey: () => store.secret("passkey-challenges"),
    tooFast: ({ id: session, who }, from) => tooFast({ session, account: Number(who) }, from),
    now,
    note: (what, fields) => log.info(fields, `console: ${what}`),
  });

  const forSignedIn = async (
    { method, path, body, id: request }: PlainRequest,
    actor: Actor,
  ): Promise<PlainAnswer | undefined> => {
    if (path === "/console/overview" && method === "GET")
      return json(200, await overview(actor.account, await sessions.isOwner(actor)));
    if (method !== "GET" && actor.scope.access === "read") return readOnly;
    if (path === "/console/tokens" && method === "POST") {
      const input = readTokenInput(jsonOf(body));
      if (!input.ok)
        return problem(422, input.faults.map((fault) => `${fault.where}: ${faultInWords(fault)}`).join(". "));
      const made = await tokens.make(actor.account, input.value);
      if ("fault" in made) return problem(422, made.fault);
      log.info({ actor: actor.label, id: made.token.id, request }, "console: token created");
      return json(201, made);
    }
    const id = method === "DELETE" ? /^\/console\/tokens\/(\d{1,15})$/.exec(path)?.[1] : undefined;
    if (id === undefined) return undefined;
    if (!(await tokens.revoke(actor.account, Number(id)))) return problem(404, "There is no such token.");
    log.info({ actor: actor.label, id: Number(id), request }, "console: token revoked");
    return { status: 204, headers: {}, body: "" };
  };

  return async (request: PlainRequest): Promise<PlainAnswer | undefined> => {
    if (request.path === "/console/ca.pem" && readCa !== undefined)
      return { status: 200, headers: { "content-type": "application/x-pem-file" }, body: await readCa() };
    const answered = await signIn(request);
    if (answered !== undefined) return answered;
    const actor = await sessions.actorOf({ ...request, ip: request.from });
    if (actor === "forged") return forged;
    if (actor === "none") return notSignedIn;
    return (await tooFast(actor, request.from)) ?? (await forSignedIn(request, actor));
  };
}

const notSignedIn = problem(401, "Sign in first.");

const pathOf = ({ url }: FastifyRequest): string => url.split("?", 1)[0] ?? "/";

const toPlain = (request: FastifyRequest): PlainRequest => ({
  method: request.method,
  path: pathOf(request),
  headers: request.headers,
  body: typeof request.body === "string" ? request.body : "",
  from: request.ip,
  isPlainHttp: isPlainHttp(request),
  id: request.id,
  port: request.socket.localPort,
});

const send = (reply: FastifyReply, { status, headers, body }: Omit<PlainAnswer, "body"> & { body: string | Buffer }) =>
  reply.code(status).headers(headers).send(body);

/** A page of a zone's sets, like that of the record-set API but larger: the pages show whole zones. */
async function answerSets(
  { setPage }: Pick<RecordService, "setPage">,
  actor: Actor,
  { zone: name, query }: { readonly zone: string; readonly query: unknown },
): Promise<PlainAnswer> {
  const { page: text = "1" } = query as { readonly page?: unknown };
  if (typeof text !== "string" || !/^[1-9]\d{0,5}$/.test(text)) return problem(422, "page: must be a number from 1.");
  const paging = { page: Number(text), perPage: setsPerConsolePage };
  const outcome = await setPage(actor, { name }, paging, undefined);
  if (outcome.kind !== "done") return problem(404, "There is no such zone.");
  const { items, total } = outcome.page;
  return json(200, {
    rrsets: items.map((set) => setToWire(set, outcome.zone.number)),
    meta: { pagination: { last_page: Math.max(1, Math.ceil(total / setsPerConsolePage)) } },
  });
}
