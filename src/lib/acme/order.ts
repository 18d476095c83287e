import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../core/is-object.ts";
import { txtValueOf } from "./account-key.ts";
import type { AcmeClient, Resource } from "./client.ts";
import { AcmeFailure, describeProblem, type Problem } from "./failure.ts";

/** How this service proves that it controls a name. */
export type Proofs = {
  /** Whether the zone of the name can be changed here. */
  readonly canPublish: (name: string) => Promise<boolean>;
  /** Replaces our values at `_acme-challenge` of the name; an empty list cleans up. */
  readonly publish: (name: string, values: readonly string[]) => Promise<void>;
  /** Answers these tokens over HTTP on port 80 until the returned function is called. */
  readonly serve: (answers: ReadonlyMap<string, string>) => Promise<() => Promise<void>>;
};

export type OrderOptions = {
  readonly client: AcmeClient;
  readonly proofs: Proofs;
  readonly names: readonly string[];
  /** The URL of an unfinished order. */
  readonly unfinished: string | undefined;
  /** Called with the URL of a new order before anything is done about it. */
  readonly begun: (url: string) => Promise<void>;
  /** DER, base64url. */
  readonly csr: () => Promise<string>;
  readonly signal: AbortSignal;
};

/**
 * From the order to the certificate, PEM with its chain (RFC 8555 section 7.1.6). Continues the unfinished order if
 * there is one.
 */
export async function completeOrder(options: OrderOptions): Promise<string> {
  try {
    return await followOrder(options);
  } finally {
    // The program may have been killed between the check and the clean-up.
    if (options.unfinished !== undefined) await clearProofs(options);
  }
}

async function followOrder(options: OrderOptions): Promise<string> {
  const { client, names, csr, signal } = options;
  let order = (await findUnfinished(options)) ?? (await startOrder(options));
  for (let looks = 0; ; looks++) {
    const { status, finalize, certificate, error } = order.fields;
    if (status === "valid" && typeof certificate === "string") return (await client.post(certificate)).body;
    if (status === "invalid") throw refused(`the order for ${names.join(", ")} failed`, error);
    if (looks > mostLooks) throw tooSlow("the order");
    if (status === "pending") await proveNames(order, options);
    if (status === "ready" && typeof finalize === "string") await client.post(finalize, { csr: await csr() });
    if (status === "processing") await pause(order, looks, signal);
    order = { ...(await client.post(order.url)), url: order.url };
  }
}

async function clearProofs({ names, proofs }: OrderOptions): Promise<void> {
  for (const name of new Set(names.map((each) => each.replace(/^\*\./, ""))))
    if (await proofs.canPublish(name)) await proofs.publish(name, []);
}

async function startOrder({ client, names, begun }: OrderOptions): Promise<Resource> {
  const order = await client.newOrder(names);
  await begun(order.url);
  return order;
}

/** Undefined for an order that the authority no longer knows, or that has failed meanwhile. */
async function findUnfinished({ client, unfinished }: OrderOptions): Promise<Resource | undefined> {
  if (unfinished === undefined) return undefined;
  try {
    const order = await client.post(unfinished);
    return order.fields.status === "invalid" ? undefined : { ...order, url: unfinished };
  } catch (error) {
    if (error instanceof AcmeFailure && error.kind === "refused" && error.problem !== "rateLimited") return undefined;
    throw error;
  }
}

type Challenge = { readonly url: string; readonly token: string; readonly status: string };
type Task = {
  readonly name: string;
  readonly kind: "dns-01" | "http-01";
  readonly challenge: Challenge;
  readonly authorization: string;
};

async function proveNames(order: Resource, options: OrderOptions): Promise<void> {
  const { client, proofs, signal } = options;
  const urls = textsIn(order.fields.authorizations);
  const tasks: Task[] = [];
  for (const url of urls) {
    const task = await taskOf(await client.post(url), options);
    if (task !== undefined) tasks.push(task);
  }
  const close = await showProofs(tasks, proofs, client);
  try {
    for (const { challenge } of tasks) if (challenge.status === "pending") await askForCheck(challenge, client);
    for (const url of urls) await untilDecided(url, client, signal);
  } finally {
    await close();
  }
}

/**
 * In a continued order the check may already be running, and the request is refused; the authorization then shows the
 * result.
 */
async function askForCheck({ url }: Challenge, client: AcmeClient): Promise<void> {
  try {
    await client.post(url, {});
  } catch (error) {
    if (!(error instanceof AcmeFailure && error.problem === "malformed")) throw error;
  }
}

/** Undefined if the authority has already validated the name. */
async function taskOf({ fields, url }: Resource, { proofs, client }: OrderOptions): Promise<Task | undefined> {
  const { status, identifier, challenges, wildcard } = fields;
  const name = isObject(identifier) && typeof identifier.value === "string" ? identifier.value : "";
  if (status === "valid") return undefined;
  const kind = (await proofs.canPublish(name)) ? "dns-01" : "http-01";
  if (kind === "http-01" && wildcard === true) throw new AcmeFailure("refused", wildcardNeedsZone(name));
  const challenge = (Array.isArray(challenges) ? challenges : []).find((each) => isObject(each) && each.type === kind);
  if (!isObject(challenge) || typeof challenge.token !== "string" || typeof challenge.url !== "string") {
    throw new AcmeFailure("refused", `the authority does not offer the challenge ${kind} for ${name} (${url})`);
  }
  const { token } = challenge;
  // It becomes part of a path and of an answer over HTTP (RFC 8555 section 8.1).
  if (!/^[\w-]{1,256}$/.test(token))
    throw new AcmeFailure("refused", `the authority sent an unusable token for ${name}`);
  const read = { url: challenge.url, token, status: String(challenge.status) };
  return { name, kind, challenge: read, authorization: client.key.authorize(token) };
}

const wildcardNeedsZone = (name: string): string =>
  `a certificate for *.${name} needs DNS-01, but the zone of ${name} is not on this service; create the zone here, or leave the name out`;

/** Returns a function that removes all proofs. */
async function showProofs(tasks: readonly Task[], proofs: Proofs, { key }: AcmeClient): Promise<() => Promise<void>> {
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const each of closing.toReversed()) await each();
  };
  try {
    const overDns = Map.groupBy(ofKind(tasks, "dns-01"), ({ name }) => name);
    for (const [name, both] of overDns) {
      closing.push(() => proofs.publish(name, []));
      await proofs.publish(
        name,
        both.map(({ authorization }) => txtValueOf(authorization)),
      );
    }
    const overHttp = ofKind(tasks, "http-01").map(({ challenge: { token } }) => [token, key.authorize(token)] as const);
    if (overHttp.length > 0) closing.push(await proofs.serve(new Map(overHttp)));
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

const ofKind = (tasks: readonly Task[], wanted: Task["kind"]) => tasks.filter(({ kind }) => kind === wanted);

async function untilDecided(url: string, client: AcmeClient, signal: AbortSignal): Promise<void> {
  for (let looks = 0; looks <= mostLooks; looks++) {
    const resource = await client.post(url);
    const { status, identifier, challenges } = resource.fields;
    if (status === "valid") return;
    const name = isObject(identifier) ? String(identifier.value) : "a name";
    if (status !== "pending") throw refused(`the authority could not verify ${name}`, errorIn(challenges));
    await pause(resource, looks, signal);
  }
  throw tooSlow("the verification");
}

const errorIn = (challenges: unknown): unknown =>
  (Array.isArray(challenges) ? challenges : []).find((each) => isObject(each) && each.error !== undefined)?.error;

const refused = (what: string, problem: unknown): AcmeFailure =>
  new AcmeFailure("refused", isObject(problem) ? `${what}: ${describeProblem(problem as Problem)}` : what);

const tooSlow = (what: string): AcmeFailure =>
  new AcmeFailure("unavailable", `the authority did not finish ${what} in time`);

const textsIn = (list: unknown): readonly string[] =>
  (Array.isArray(list) ? list : []).filter((each) => typeof each === "string");

/** About five minutes, if the authority sends no Retry-After. */
const mostLooks = 70;
const longestPause = 60_000;

/** Quick checks first: most authorities need about a second. */
const pause = (resource: Resource, looks: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.min(resource.retryAfter ?? Math.min(250 * 2 ** looks, 5_000), longestPause), undefined, { signal });
