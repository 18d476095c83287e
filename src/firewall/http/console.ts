import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { People } from "../../access/session.ts";
import { createSessions } from "../../access/session.ts";
import { createSignIn, forged, json, problem } from "../../access/session-http.ts";
import { createEntrance, type SharedSignIn, sessionOf } from "../../access/shared-sign-in.ts";
import type { ServiceLink } from "../../contract/console.ts";
import type { ConsoleGroup, ConsoleTraffic, NewUserWish, UserWish } from "../../contract/console-firewall.ts";
import { objectOfJson } from "../../core/is-object.ts";
import { type PlainRequest, readPlainRequest } from "../../lib/http/plain-request.ts";
import { createStaticPages, type PageAnswer } from "../../lib/http/static-pages.ts";
import { createFewLines } from "../../lib/limits/few-lines.ts";
import type { Logger } from "../../process/log.ts";
import { tryTo } from "../access/audit.ts";
import type { Privilege } from "../access/privileges.ts";
import { isInForce } from "../access/privileges.ts";
import { decoded } from "../access/resolve-endpoint.ts";
import { unknownName } from "../access/sign-ins.ts";
import type { AccessStore } from "../access/store.ts";
import type { User } from "../access/users.ts";
import { administrator, makeSignInSecret } from "./console-link.ts";
import { type Changed, consolePeople } from "./console-people.ts";
import { type EventStreams, fullText, holdersOf } from "./events.ts";

export type FirewallConsoleOptions = {
  readonly access: AccessStore;
  readonly streams: EventStreams;
  readonly log: Logger;
  readonly now: () => Date;
  readonly readTraffic: () => Promise<ConsoleTraffic>;
  readonly caFile: string | undefined;
  readonly pages: string | undefined;
  /** The other services that this one knows of. */
  readonly services?: (() => readonly ServiceLink[]) | undefined;
  readonly shared?: SharedSignIn | undefined;
};

/** The pages and their API: signing in, live interfaces, users, groups, keys and the audit log. */
export function createFirewallConsole(options: FirewallConsoleOptions) {
  const { access, log, now } = options;
  const sessions = createSessions(access.sessions, () => now().getTime());
  const answerTo = createAnswering(options, sessions);
  const pages = createStaticPages({ page: "firewall", isPage: (path) => pagePaths.test(path), folder: options.pages });

  return {
    /** False if the request is not for the console. */
    handle: async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      try {
        const answer = path.startsWith("/console/")
          ? await answerTo(request, response)
          : request.method === "GET" &&
            (await pages(path, String(request.headers["accept-encoding"] ?? ""), acceptOf(path, request)));
        // Without built pages, the root path is answered by the API.
        if (!answer || (answer !== "taken" && answer.status === 503)) return false;
        if (answer !== "taken") response.writeHead(answer.status, answer.headers).end(answer.body);
      } catch (error) {
        // A client that disconnected needs no response, and it is not an error.
        if (response.destroyed) return true;
        log.error({ err: error, path }, "console: a request failed");
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      }
      return true;
    },

    makeLink: (user?: string) => makeSignInSecret(access, user, now),
    isNew: (): boolean => !access.users.list().some(({ hasPassword }) => hasPassword),
  };
}

/** A browser may show the answer of the API. */
const acceptOf = (path: string, { headers }: IncomingMessage): string | undefined =>
  path.startsWith("/api/") ? undefined : headers.accept;

const pagePaths = /^\/(?:sign-in|users|groups|audit|account)?$/;

type Answer = PageAnswer | "taken";
type SignedIn = { readonly user: User; readonly session: number };

function createAnswering(options: FirewallConsoleOptions, sessions: ReturnType<typeof createSessions>) {
  const { access, streams, log, now, caFile, services, shared } = options;
  const people = consolePeople(access, now);
  const userBehind = (name: string): User | undefined => {
    const user = access.users.find(name);
    return user && isInForce(user, now()) ? user : undefined;
  };
  const signedIn = async (request: PlainRequest): Promise<SignedIn | "forged" | undefined> => {
    const found = await sessionOf(entrance, request);
    if (found.kind !== "session") return found.kind === "forged" ? "forged" : undefined;
    const user = userBehind(found.session.who);
    return user && { user, session: found.session.id };
  };
  const isAllowed = (user: User, privilege: Privilege, { from }: PlainRequest): boolean => {
    const held = people.rightsOf(user, from);
    return held.includes("all") || held.includes(privilege);
  };
  const users: People = {
    check: async (name, password) => {
      const found = await access.users.checkPassword(name, password, now());
      return typeof found === "string" ? { shutOut: found } : found?.name;
    },
    hasName: async (name) => access.users.find(name) !== undefined,
    describe: async (who, from) => {
      const user = userBehind(who);
      const held = user && people.rightsOf(user, from);
      return user && held && { name: user.name, hasPassword: user.hasPassword, privileges: held };
    },
    setPassword: async (who, password) => {
      await access.users.setPassword(who, password);
      access.audit.note({ name: who, source: "console" }, "password set", who, now());
    },
  };
  const owner = async (from: string) => {
    const user = userBehind(administrator);
    return user && people.rightsOf(user, from).includes("all") ? user.name : undefined;
  };
  const entrance = createEntrance({ service: "firewall", sessions, people: users, owner }, shared);
  const few = createFewLines(
    () => now().getTime(),
    (count) => log.warn({ count }, "console: more requests were refused"),
  );
  const note = (what: string, fields: Readonly<Record<string, unknown>>) => {
    const write = () => log.info(fields, `console: ${what}`);
    if (what.includes("refused")) few(write);
    else write();
    tryTo(() => noteSignIn(access, what, fields, now()));
  };
  const signIn = createSignIn({ entrance, people: users, services, now: () => now().getTime(), note });

  return async (request: IncomingMessage, response: ServerResponse): Promise<Answer | undefined> => {
    const plain = await readPlainRequest(request);
    if (plain === undefined) return problem(413, "The request is too large.");
    const route = `${plain.method} ${plain.path}`;
    if (route === "GET /console/ca.pem" && caFile !== undefined)
      return { status: 200, headers: { "content-type": "application/x-pem-file" }, body: await readFile(caFile) };
    const answered = await signIn(plain);
    if (answered !== undefined) return answered;
    const found = await signedIn(plain);
    if (found === "forged") return forged;
    if (found === undefined) return problem(401, "Sign in first.");
    const { user, session } = found;
    if (route === "GET /console/events" || route === "GET /console/traffic") {
      if (!isAllowed(user, "interface-status", plain))
        return problem(403, "You are not allowed to see the interfaces.");
      if (route === "GET /console/traffic") return json(200, await options.readTraffic());
      const mayStay = async () => {
        const still = await signedIn(plain);
        return typeof still === "object" && isAllowed(still.user, "interface-status", plain);
      };
      const opened = await streams.open(request, response, {
        mayStay,
        holders: holdersOf("session", session, user.name),
      });
      return opened === "taken" ? opened : problem(opened.holder ? 429 : 503, `${fullText(opened)}.`);
    }
    if (!isAllowed(user, "user-management", plain)) return problem(403, "You are not allowed to manage users.");
    const managed = await manage(people, plain, { name: user.name, source: plain.from });
    if (managed.status === 403)
      few(() => log.warn({ who: user.name, from: plain.from, route }, "console: a change was refused"));
    return managed;
  };
}

/** Only what concerns signing in and out: changes of a password are noted where they are made. */
function noteSignIn(access: AccessStore, what: string, fields: Readonly<Record<string, unknown>>, at: Date): void {
  if (!/^sign/.test(what)) return;
  const { who, name, from, delayed } = fields;
  const known = [who, name].filter((text) => typeof text === "string").find((text) => access.users.find(text));
  access.signIns.note({
    at,
    actor: known ?? unknownName,
    source: String(from),
    action: delayed === undefined ? what : `${what}, further attempts are delayed`,
    failed: what.includes("refused"),
  });
}

type Management = ReturnType<typeof consolePeople>;

async function manage(people: Management, { method, path, body }: PlainRequest, by: { name: string; source: string }) {
  const [, , kind, given = "", part] = path.split("/");
  const name = decoded(given);
  // Every field is checked where it is used.
  const wish = objectOfJson(body) as unknown;
  // Only a new key needs no fields.
  if (wish === undefined && (method === "PUT" || (method === "POST" && part === undefined)))
    return problem(400, "The request is not a JSON object.");
  switch (`${method} ${kind}${name === "" ? "" : "/:name"}${part === undefined ? "" : `/${part}`}`) {
    case "GET people":
      return json(200, people.list(by));
    case "GET audit":
      return json(200, { audit: people.audit() });
    case "POST users":
      return toAnswer(people.addUser(wish as NewUserWish, by));
    case "PUT users/:name":
      return toAnswer(await people.changeUser(name, wish as Partial<UserWish>, by));
    case "DELETE users/:name":
      return toAnswer(await people.removeUser(name, by));
    case "POST users/:name/keys":
      return toAnswer(people.addKey(name, by));
    case "DELETE keys/:name":
      return toAnswer(people.revokeKey(name, by));
    case "POST groups":
      return toAnswer(people.addGroup(wish as ConsoleGroup, by));
    case "PUT groups/:name":
      return toAnswer(people.changeGroup({ ...(wish as Partial<ConsoleGroup>), name }, by));
    case "DELETE groups/:name":
      return toAnswer(people.removeGroup(name, by));
    default:
      return problem(404, "Not found.");
  }
}

function toAnswer(changed: Changed) {
  if (changed === "done") return { status: 204, headers: {}, body: "" };
  if (changed === "missing") return problem(404, "It no longer exists.");
  if ("made" in changed) return json(201, changed.made);
  if ("forbidden" in changed) return problem(403, changed.forbidden);
  const { wrong: message, field } = changed;
  return json(422, { error: { message, ...(field && { code: `field:${field}` }) } });
}
