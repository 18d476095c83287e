import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { IdentityProvider } from "../../access/oidc/identity-provider.ts";
import type { OidcSettings } from "../../access/oidc/settings.ts";
import { createSessions, type People, type SessionRole } from "../../access/session.ts";
import { createSignIn, forged } from "../../access/session-http.ts";
import { Entrance, type SharedSignIn, sessionOf } from "../../access/shared-sign-in.ts";
import type { ServiceLink } from "../../contract/console.ts";
import type { ConsoleTraffic, NewUserInput, UserInput } from "../../contract/console-firewall.ts";
import { objectOfJson } from "../../core/is-object.ts";
import { json, type PlainRequest, problem, readPlainRequest } from "../../lib/http/plain-request.ts";
import { createStaticPages, type PageAnswer } from "../../lib/http/static-pages.ts";
import { createLineLimit, type Logger } from "../../process/log.ts";
import { tryTo } from "../access/audit.ts";
import { isInForce, type Privilege, rightsOf } from "../access/privileges.ts";
import { decoded } from "../access/resolve-endpoint.ts";
import { unknownName } from "../access/sign-ins.ts";
import type { AccessStore } from "../access/store.ts";
import type { User } from "../access/users.ts";
import { administrator, makeSignInSecret } from "./console-link.ts";
import {
  addKey,
  addUser,
  auditLines,
  changeUser,
  listPeople,
  type PeopleOutcome,
  type PeopleTools,
  removeUser,
  revokeKey,
} from "./console-people.ts";
import { fullText, holdersOf, type InterfaceEventStreams } from "./events.ts";

export type FirewallConsoleOptions = {
  readonly access: AccessStore;
  readonly streams: Pick<InterfaceEventStreams, "open">;
  readonly log: Logger;
  readonly now: () => Date;
  readonly readTraffic: () => Promise<ConsoleTraffic>;
  readonly caFile: string | undefined;
  readonly pages: string | undefined;
  /** The other services that this one knows of. */
  readonly services?: (() => readonly ServiceLink[]) | undefined;
  /** The names under which people reach this service. */
  readonly names?: readonly string[] | undefined;
  readonly shared?: SharedSignIn | undefined;
  readonly oidc?: OidcSettings | undefined;
};

/** The pages and their API: signing in, live interfaces, users, keys and the audit log. */
export function createFirewallConsole(options: FirewallConsoleOptions) {
  const { access, log, now } = options;
  const note = (what: string, fields: Readonly<Record<string, unknown>>) => log.info(fields, `console: ${what}`);
  const provider = options.oidc && new IdentityProvider(options.oidc, note);
  const sessions = createSessions(access.sessions, () => now().getTime(), provider?.confirm);
  const answerTo = createAnswering(options, sessions, provider);
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

const pagePaths = /^\/(?:sign-in|users|audit|account)?$/;

type AccountAnswer = PageAnswer | "taken";
type SignedIn = { readonly user: User; readonly session: number; readonly role: SessionRole | undefined };

type ConsoleTools = { readonly options: FirewallConsoleOptions; readonly entrance: Entrance };

/** Answers the requests of the pages. */
function createAnswering(
  options: FirewallConsoleOptions,
  sessions: ReturnType<typeof createSessions>,
  provider: IdentityProvider | undefined,
) {
  const { access, log, now, services, shared, caFile } = options;
  const people = signInPeople(options);
  const owner = async (from: string) => {
    const user = userInForce(options, administrator);
    return user && rightsOf(user, undefined, { from }).includes("all") ? user.name : undefined;
  };
  const entrance = new Entrance({ service: "firewall", sessions, people, passkeys: access.passkeys, owner }, shared);
  const tools: ConsoleTools = { options, entrance };
  const time = () => now().getTime();
  const fewLines = createLineLimit(time, (count) => log.warn({ count }, "console: more requests were refused"));
  const note = (what: string, fields: Readonly<Record<string, unknown>>) => {
    const write = () => log.info(fields, `console: ${what}`);
    if (what.includes("refused")) fewLines(write);
    else write();
    tryTo(() => noteSignIn(access, what, fields, now()));
  };
  const signIn = createSignIn({ entrance, people, provider, services, now: time, note });

  return async (request: IncomingMessage, response: ServerResponse): Promise<AccountAnswer | undefined> => {
    const plain = await readPlainRequest(request);
    if (plain === undefined) return problem(413, "The request is too large.");
    const route = `${plain.method} ${plain.path}`;
    if (route === "GET /console/ca.pem" && caFile !== undefined)
      return { status: 200, headers: { "content-type": "application/x-pem-file" }, body: await readFile(caFile) };
    const answered = await signIn(plain);
    if (answered !== undefined) return answered;
    const signedIn = await signedInBy(tools, plain);
    if (signedIn === "forged") return forged;
    if (signedIn === undefined) return problem(401, "Sign in first.");
    if (route === "GET /console/events" || route === "GET /console/traffic") {
      if (!isAllowed(signedIn, "interface-status", plain))
        return problem(403, "You are not allowed to see the interfaces.");
      if (route === "GET /console/traffic") return json(200, await options.readTraffic());
      return await openStream(tools, request, response, plain, signedIn);
    }
    if (!isAllowed(signedIn, "all", plain)) return problem(403, "Only an administrator can manage users.");
    return await manage({ access, now }, plain, { name: signedIn.user.name, source: plain.from });
  };
}

async function openStream(
  tools: ConsoleTools,
  request: IncomingMessage,
  response: ServerResponse,
  plain: PlainRequest,
  { user, session }: SignedIn,
): Promise<AccountAnswer> {
  const mayStay = async () => {
    const still = await signedInBy(tools, plain);
    return typeof still === "object" && isAllowed(still, "interface-status", plain);
  };
  const holders = holdersOf("session", session, user.name);
  const opened = await tools.options.streams.open(request, response, { mayStay, holders });
  return opened === "taken" ? opened : problem(opened.holder ? 429 : 503, `${fullText(opened)}.`);
}

async function signedInBy(
  { options, entrance }: ConsoleTools,
  request: PlainRequest,
): Promise<SignedIn | "forged" | undefined> {
  const outcome = await sessionOf(entrance, request);
  if (outcome.kind !== "session") return outcome.kind === "forged" ? "forged" : undefined;
  const user = userInForce(options, outcome.session.who);
  const { id: session, role } = outcome.session;
  return user && { user, session, role };
}

function userInForce({ access, now }: PeopleTools, name: string): User | undefined {
  const user = access.users.find(name);
  return user && isInForce(user, now()) ? user : undefined;
}

const signInPeople = ({ access, now }: PeopleTools): People => ({
  check: async (name, password) => {
    const userOrRefusal = await access.users.checkPassword(name, password, now());
    return typeof userOrRefusal === "string" ? { shutOut: userOrRefusal } : userOrRefusal?.name;
  },
  hasName: async (name) => access.users.find(name) !== undefined,
  describe: async (who, from, role) => {
    const user = userInForce({ access, now }, who);
    const rights = user && rightsOf(user, limitOf(role), { from });
    return user && rights && { name: user.name, hasPassword: user.hasPassword, privileges: rights };
  },
  setPassword: async (who, password) => {
    await access.users.setPassword(who, password);
    access.audit.note({ name: who, source: "console" }, "password set", who, now());
  },
  forOidc: async (name = administrator, role) => {
    const privileges: readonly Privilege[] = limitOf(role) ?? ["all"];
    if (access.users.add({ name, privileges, now: now() })) {
      const by = { name: "identity provider", source: "console" };
      access.audit.note(by, "user added", `${name}, privileges: ${privileges.join(", ")}`, now());
    }
    return name;
  },
});

/** A session may be limited to looking. */
const limitOf = (role: SessionRole | undefined): readonly Privilege[] | undefined =>
  role === "read" ? ["interface-status"] : undefined;

function isAllowed({ user, role }: SignedIn, privilege: Privilege, caller: PlainRequest): boolean {
  const rights = rightsOf(user, limitOf(role), caller);
  return rights.includes("all") || rights.includes(privilege);
}

/** Only what concerns signing in and out, and passkeys: changes of a password are noted where they are made. */
function noteSignIn(access: AccessStore, what: string, fields: Readonly<Record<string, unknown>>, at: Date): void {
  const { who, name, from, delayed } = fields;
  if (what.startsWith("passkey"))
    access.audit.note({ name: String(who), source: String(from) }, what, String(fields.passkey ?? who), at);
  if (!/^sign/.test(what)) return;
  const userName = [who, name].filter((text) => typeof text === "string").find((text) => access.users.find(text));
  access.signIns.note({
    at,
    actor: userName ?? unknownName,
    source: String(from),
    action: delayed === undefined ? what : `${what}, further attempts are delayed`,
    failed: what.includes("refused"),
  });
}

async function manage(tools: PeopleTools, { method, path, body }: PlainRequest, by: { name: string; source: string }) {
  const [, , kind, encodedName = "", part] = path.split("/");
  const name = decoded(encodedName);
  // Every field is checked where it is used.
  const input = objectOfJson(body) as unknown;
  // Only a new key needs no fields.
  if (input === undefined && (method === "PUT" || (method === "POST" && part === undefined)))
    return problem(400, "The request is not a JSON object.");
  switch (`${method} ${kind}${name === "" ? "" : "/:name"}${part === undefined ? "" : `/${part}`}`) {
    case "GET people":
      return json(200, listPeople(tools));
    case "GET audit":
      return json(200, { audit: auditLines(tools) });
    case "POST users":
      return toAnswer(addUser(tools, input as NewUserInput, by));
    case "PUT users/:name":
      return toAnswer(await changeUser(tools, name, input as Partial<UserInput>, by));
    case "DELETE users/:name":
      return toAnswer(await removeUser(tools, name, by));
    case "POST users/:name/keys":
      return toAnswer(addKey(tools, name, by));
    case "DELETE keys/:name":
      return toAnswer(revokeKey(tools, name, by));
    default:
      return problem(404, "Not found.");
  }
}

function toAnswer(changed: PeopleOutcome) {
  if (changed === "done") return { status: 204, headers: {}, body: "" };
  if (changed === "missing") return problem(404, "It no longer exists.");
  if ("made" in changed) return json(201, changed.made);
  const { wrong: message, field } = changed;
  return json(422, { error: { message, ...(field && { code: `field:${field}` }) } });
}
