import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createSignIn, forged, readOnly } from "../../access/session-http.ts";
import type { SharedGuesses } from "../../access/session-throttle.ts";
import type { ServiceLink } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import { faultInWords } from "../../core/result.ts";
import type { FindDelegation } from "../../lib/dns/delegation.ts";
import { json, type PlainAnswer, type PlainRequest, problem, zipAnswer } from "../../lib/http/plain-request.ts";
import { createStaticPages } from "../../lib/http/static-pages.ts";
import type { Logger } from "../../process/log.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { RecordService } from "../service.ts";
import type { RecordStore } from "../store/port.ts";
import { createDelegationChecks } from "./delegation.ts";
import { answerHistory, type HistoryRequest } from "./history.ts";
import { createOverview, type KnownUpdater, type SigningTroubles } from "./overview.ts";
import { type ConsoleSessions, isPlainHttp } from "./sessions.ts";
import { answerSets } from "./set-pages.ts";
import { consoleTokens, readTokenInput } from "./tokens.ts";

export type ConsoleOptions = {
  readonly store: RecordStore;
  readonly service: RecordService;
  readonly findDelegation: FindDelegation;
  readonly sessions: ConsoleSessions;
  /** The other services that this one knows of. */
  readonly services: (() => readonly ServiceLink[]) | undefined;
  /** An updater in the same process. */
  readonly updater: (() => KnownUpdater | undefined) | undefined;
  readonly signing?: SigningTroubles;
  readonly guesses: SharedGuesses | undefined;
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
    server.removeAllContentTypeParsers();
    // A form on another site cannot send this type without a CORS preflight.
    server.addContentTypeParser(
      "application/json",
      { parseAs: "string", bodyLimit: 64 * 1024 },
      (_request, body, done) => done(null, body),
    );
    const { service, store, now, sessions } = options;
    const checkDelegation = createDelegationChecks(options.findDelegation, service.nameservers, now);
    const ofZone = {
      writes: (actor, request) => answerHistory(service, actor, request),
      rrsets: (actor, request) => answerSets(service, actor, request),
      delegation: async ({ account }, { zone: name }) => {
        const zone = await store.zoneBy(account, { name });
        return zone ? json(200, await checkDelegation(zone.name, account)) : problem(404, "There is no such zone.");
      },
    } satisfies Record<string, (actor: Actor, request: HistoryRequest) => Promise<PlainAnswer>>;
    for (const [what, answer] of Object.entries(ofZone)) {
      server.get<{ Params: { zone: string } }>(
        `/console/zones/:zone/${what}`,
        { schema: { hide: true } },
        async (request, reply) => {
          const actor = await sessions.actorOf(request);
          if (actor === "forged" || actor === "none") return send(reply, notSignedIn);
          const { params, query } = request;
          const answered = await answer(actor, { zone: params.zone.toLowerCase(), query });
          return send(reply, await zipAnswer(answered, request.headers["accept-encoding"]));
        },
      );
    }
    server.all("/console/*", { schema: { hide: true } }, async (request, reply) =>
      send(reply, (await answerTo(toPlain(request))) ?? problem(404, "Not found.")),
    );
    for (const path of [
      "/",
      "/sign-in",
      "/tokens",
      "/tokens/",
      "/account",
      "/account/",
      "/zones",
      "/zones/*",
      "/assets/*",
    ]) {
      server.get(path, { schema: { hide: true } }, async (request, reply) => {
        const { "accept-encoding": encoding, accept } = request.headers;
        const answer = await pages(pathOf(request), encoding, accept);
        return send(reply, answer ?? problem(404, "Not found."));
      });
    }
  };
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

const pagePaths = /^\/(?:sign-in|tokens|account|zones(?:\/[^/]+){0,2})?\/?$/;

function createAnswering({ store, sessions, services, updater, signing, guesses, now, log, readCa }: ConsoleOptions) {
  const tokens = consoleTokens(store, now);
  const overview = createOverview({ store, now, updater: updater ?? (() => undefined), signing });
  const signIn = createSignIn({
    entrance: sessions.entrance,
    people: sessions.people,
    provider: sessions.provider,
    services,
    guesses,
    now,
    note: (what, fields) => log.info(fields, `console: ${what}`),
  });

  const forSignedIn = async (
    { method, path, body, id: request }: PlainRequest,
    actor: Actor,
  ): Promise<PlainAnswer | undefined> => {
    if (path === "/console/overview" && method === "GET")
      return json(200, await overview(actor.account, await sessions.isOwner(actor)));
    if (path === "/console/tokens" && method === "GET") return json(200, { tokens: await tokens.list(actor.account) });
    if (method !== "GET" && actor.scope.access === "read") return readOnly;
    if (path === "/console/tokens" && method === "POST") {
      const input = readTokenInput(parsed(body));
      if (!input.ok)
        return problem(422, input.faults.map((fault) => `${fault.where}: ${faultInWords(fault)}`).join(". "));
      const made = await tokens.make(actor.account, input.value);
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
    return await forSignedIn(request, actor);
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
});

const send = (reply: FastifyReply, { status, headers, body }: Omit<PlainAnswer, "body"> & { body: string | Buffer }) =>
  reply.code(status).headers(headers).send(body);

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
