import type { PasskeyEntry, ServiceLink } from "../../contract/console.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import type { Instant } from "../../core/instant.ts";
import { fieldsOfJson, isObject } from "../../core/is-object.ts";
import { quotas, usualQuotas } from "../../core/quotas.ts";
import { json, type PlainAnswer, type PlainRequest, problem } from "../../lib/http/plain-request.ts";
import { createToken } from "../secret.ts";
import type { People } from "../session.ts";
import type { Entrance, FoundSession } from "../shared-sign-in.ts";
import { type SignInDesk, whence } from "../sign-in-desk.ts";
import { beginVisit, type Visit, visitCookie, visitOf } from "../visit.ts";
import type { Passkey } from "./passkey-store.ts";
import {
  challengeOf,
  creationOptions,
  type PasskeyPage,
  readAssertion,
  readRegistration,
  requestOptions,
} from "./verify.ts";

export type PasskeySignInOptions = {
  readonly entrance: Entrance;
  readonly people: Pick<People, "describe">;
  readonly desk: SignInDesk;
  readonly now: () => Instant;
  readonly note: (what: string, fields: Readonly<Record<string, unknown>>) => void;
  /** The key of the challenges, which all nodes share; absent: one of this process. */
  readonly challengeKey?: (() => Promise<string>) | undefined;
  /** Services that are linked from the pages: their addresses are configured. */
  readonly services?: (() => readonly ServiceLink[]) | undefined;
  /** The names under which people reach this service, besides `localhost`. */
  readonly names?: readonly string[] | undefined;
  /** Per user. */
  readonly mostPasskeys?: number | undefined;
};

const longestName = 60;

/** Signing in with passkeys (WebAuthn), and adding and removing them. */
export class PasskeySignIn {
  readonly #options: PasskeySignInOptions;
  readonly #ownKey = createToken(43);

  constructor(options: PasskeySignInOptions) {
    this.#options = options;
  }

  /** For visitors. The caller has checked that our own page sent the request. */
  async answer(request: PlainRequest): Promise<PlainAnswer | undefined> {
    const { desk, entrance } = this.#options;
    if (entrance.passkeys === undefined) return undefined;
    if (request.path === "/console/passkey/begin") return desk.tooMany("", request) ?? (await this.#begin(request));
    if (request.path === "/console/passkey/finish") return desk.tooMany("", request) ?? (await this.#finish(request));
    return undefined;
  }

  async #begin(request: PlainRequest): Promise<PlainAnswer> {
    const page = pageOf(request);
    if (page === undefined) return needsName;
    const visit = beginVisit(this.#options.now());
    return this.#withVisit(json(200, await requestOptions(page, await this.#challenge("sign-in", visit))), visit);
  }

  async #finish(request: PlainRequest): Promise<PlainAnswer> {
    const { entrance, people, desk, now, note } = this.#options;
    const { credential } = fieldsOfJson(request.body);
    const visit = visitOf(entrance.service, request, now());
    const page = pageOf(request);
    if (visit === undefined || page === undefined || !isObject(credential)) return tooLate;
    const passkeyMatch = await entrance.passkey(String(credential.id), request.from);
    const isExpected = passkeyMatch && this.#isExpected(page, passkeyMatch.passkey, request);
    const challenge = await this.#challenge("sign-in", visit);
    const counter = isExpected ? await readAssertion(credential, page, challenge, passkeyMatch.passkey) : undefined;
    const isNew =
      counter !== undefined &&
      (await passkeyMatch?.store.noteUsed(passkeyMatch.passkey.id, { counter, used: visit.since }));
    if (!passkeyMatch || !isNew || (await people.describe(passkeyMatch.who, request.from)) === undefined) {
      note("sign-in with a passkey refused", { ...desk.failed("", request.from), ...whence(request) });
      return problem(401, "This passkey is not known here, or was removed. Sign in another way.");
    }
    note("signed in with a passkey", { who: passkeyMatch.who, passkey: passkeyMatch.passkey.name, ...whence(request) });
    return await desk.enter(passkeyMatch.who, request);
  }

  /** For those who are signed in. */
  async inside(request: PlainRequest, session: FoundSession): Promise<PlainAnswer | undefined> {
    const { entrance } = this.#options;
    const route = `${request.method} ${request.path}`;
    if (!request.path.startsWith("/console/passkeys") || entrance.passkeys === undefined) return undefined;
    if (route === "GET /console/passkeys") return await this.#list(request, session);
    if (session.ticket !== undefined || session.role === "read") return notYours;
    if (route === "POST /console/passkeys/new") return await this.#offer(request, session);
    if (route === "POST /console/passkeys") return await this.#add(request, session);
    const [, id] = /^DELETE \/console\/passkeys\/([\w-]{1,1400})$/.exec(route) ?? [];
    return id === undefined ? undefined : await this.#remove(request, session, id);
  }

  async #list(request: PlainRequest, { who }: FoundSession): Promise<PlainAnswer> {
    const all = await this.#options.entrance.passkeysOf(who, request.from);
    const passkeys = all.map(
      ({ id, name, site, created, used }): PasskeyEntry => ({
        id,
        name,
        site,
        created: new Date(created).toISOString(),
        used: used === created ? null : new Date(used).toISOString(),
      }),
    );
    return json(200, { passkeys });
  }

  async #offer(request: PlainRequest, { who }: FoundSession): Promise<PlainAnswer> {
    const { entrance, people, now } = this.#options;
    const page = pageOf(request);
    if (page === undefined) return needsName;
    const person = await people.describe(who, request.from);
    const ownPasskeys = await entrance.passkeysOf(who, request.from);
    if (person === undefined) return problem(401, "Sign in again.");
    const full = this.#full(ownPasskeys);
    if (full !== undefined) return full;
    const visit = beginVisit(now());
    const user = { handle: `${entrance.service} ${who}`, name: person.name, existingPasskeys: ownPasskeys };
    const challenge = await this.#challenge("register", visit);
    return this.#withVisit(json(200, await creationOptions(page, challenge, user)), visit);
  }

  async #add(request: PlainRequest, { who }: FoundSession): Promise<PlainAnswer> {
    const { entrance, now, note } = this.#options;
    const { name, credential } = fieldsOfJson(request.body);
    const visit = visitOf(entrance.service, request, now());
    const page = pageOf(request);
    if (visit === undefined || page === undefined) return tooLate;
    if (typeof name !== "string" || name.trim() === "" || name.length > longestName)
      return problem(422, `A name must have 1 to ${longestName} characters.`);
    const made = await readRegistration(credential, page, await this.#challenge("register", visit));
    if (made === undefined) return problem(422, "The device did not create a passkey for this page. Try again.");
    if (await entrance.passkey(made.id, request.from)) return problem(422, "This passkey was added already.");
    const full = this.#full(await entrance.passkeysOf(who, request.from));
    if (full !== undefined) return full;
    const at = now();
    await entrance.passkeys?.add({ ...made, who, site: page.host, name: name.trim(), created: at, used: at });
    note("passkey added", { who, passkey: name.trim(), ...whence(request) });
    return { status: 204, headers: {}, body: "" };
  }

  async #remove(request: PlainRequest, { who }: FoundSession, id: string): Promise<PlainAnswer> {
    const { entrance, note } = this.#options;
    if (!(await entrance.removePasskey(who, request.from, id))) return problem(404, "There is no such passkey.");
    note("passkey removed", { who, ...whence(request) });
    return { status: 204, headers: {}, body: "" };
  }

  async #challenge(purpose: "register" | "sign-in", visit: Visit): Promise<string> {
    return challengeOf(purpose, visit, (await this.#options.challengeKey?.()) ?? this.#ownKey);
  }

  /**
   * The page at which it was added, or one with the same host name: a linked service, or a configured name of this one
   * at the port where it listens. What the request says of its host is not enough: a page of somebody else, at another
   * port of this host, could use the passkey and pass on what its device has signed.
   */
  #isExpected({ site, host, origin }: PasskeyPage, passkey: Passkey, { port }: PlainRequest): boolean {
    if (passkey.site === host) return true;
    if (passkey.site.replace(/:\d+$/, "") !== site) return false;
    const { services = () => [], names = [] } = this.#options;
    const { port: own, protocol } = new URL(origin);
    const ownPort = Number(own || (protocol === "https:" ? 443 : 80));
    const isNamed = site === "localhost" || names.includes(site);
    return (isNamed && ownPort === port) || services().some(({ url }) => URL.parse(url)?.origin === origin);
  }

  #full(passkeys: readonly unknown[]): PlainAnswer | undefined {
    const { mostPasskeys = usualQuotas.passkeys } = this.#options;
    if (passkeys.length < mostPasskeys) return undefined;
    return problem(422, `You have ${mostPasskeys} passkeys, the maximum; ${quotas.passkeys.todo}.`);
  }

  #withVisit(answer: PlainAnswer, visit: Visit): PlainAnswer {
    const cookie = visitCookie(this.#options.entrance.service, visit);
    return { ...answer, headers: { ...answer.headers, "set-cookie": cookie } };
  }
}

/** Undefined for an address: browsers use passkeys only for host names. Our own page has sent the origin. */
function pageOf({ headers }: PlainRequest): PasskeyPage | undefined {
  const origin = String(headers.origin);
  const site = URL.parse(origin)?.hostname ?? "";
  const isAddress = site.startsWith("[") || parseAddress(site) !== undefined;
  return site === "" || isAddress ? undefined : { origin, site, host: URL.parse(origin)?.host ?? site };
}

const tooLate = problem(401, "This took too long. Try again.");

const needsName = problem(
  422,
  "Passkeys work only with a host name. Open this page under a name such as https://dns.example.org, not under an address.",
);

/** They would outlive the access that the identity provider grants. */
const notYours = problem(403, "Passkeys can be added and removed only after a sign-in without the identity provider.");
