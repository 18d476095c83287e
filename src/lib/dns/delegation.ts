import { Resolver } from "node:dns/promises";
import { parseAddress } from "../../core/addresses/address.ts";
import { mayBePrimary } from "../../core/addresses/primary-address.ts";
import { type ParentView, readDs, type ServerView } from "../../core/dnssec/parent-view.ts";
import type { Instant } from "../../core/instant.ts";
import { enclosing } from "../../core/names/name.ts";
import { BoundedMap } from "../limits/bounded-map.ts";
import { type AskOptions, askTcp, askUdp, nameOf, type Peer } from "./ask.ts";
import { classes, opcodes, rcodes, types } from "./codes.ts";
import type { Message, ResourceRecord } from "./message.ts";
import { createNameReader } from "./read-name.ts";

/** What the parent zone says about a zone. */
export type Delegation =
  | { readonly kind: "delegated"; readonly servers: readonly string[] }
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly because: string };

export type FindDelegation = (zone: string, signal: AbortSignal) => Promise<Delegation>;

/** How to query DNS. */
export type DnsTools = {
  /** Empty if the name has no NS records; rejects if that is not known. */
  readonly serversOf: (name: string) => Promise<readonly string[]>;
  readonly addressesOf: (server: string) => Promise<readonly string[]>;
  readonly mayAsk: (address: string) => boolean;
  readonly ask: (address: string, zone: string, signal: AbortSignal) => Promise<Message>;
};

/** Milliseconds per question. */
const limit = 2_000;
/** How many servers of the parent are asked, at most, until one answers. */
const mostAsked = 3;

/** Asks the servers of the parent zone, which the system's resolver finds. No answer never means “not delegated”. */
export const findDelegationBy =
  (tools: DnsTools): FindDelegation =>
  async (zone, signal) => {
    try {
      const servers = await serversAbove(zone, tools);
      let because =
        servers.length === 0
          ? "its parent zone was not found"
          : "the servers of the parent zone have no public address";
      for (const server of servers.slice(0, mostAsked)) {
        const [address] = (await tools.addressesOf(server).catch(() => [])).filter(tools.mayAsk);
        if (address === undefined) continue;
        try {
          return delegationIn(await tools.ask(address, zone, signal), zone);
        } catch (error) {
          because = (error as Error).message;
        }
      }
      return { kind: "unknown", because };
    } catch (error) {
      return { kind: "unknown", because: (error as Error).message };
    }
  };

/** The parent is the closest zone above, which may be more than one label away. */
async function serversAbove(zone: string, { serversOf }: Pick<DnsTools, "serversOf">): Promise<readonly string[]> {
  for (const parent of enclosing(zone).slice(1)) {
    const servers = await serversOf(parent);
    if (servers.length > 0) return servers;
  }
  return [];
}

const ns = 2;
const nxdomain = 3;

/** The servers are in the referral; a server that also has the zone itself gives them as the answer. */
function delegationIn({ rcode, authoritative, answers, authorities }: Message, zone: string): Delegation {
  if (rcode === nxdomain) return { kind: "none" };
  if (rcode !== 0) return { kind: "unknown", because: `the parent zone answers with the error ${rcode}` };
  const servers = [...answers, ...authorities].filter(({ name, type }) => type === ns && name === zone).flatMap(nameIn);
  if (servers.length > 0) return { kind: "delegated", servers: [...new Set(servers)].toSorted() };
  return authoritative ? { kind: "none" } : { kind: "unknown", because: "the parent zone refers to other servers" };
}

const nameIn = ({ data }: ResourceRecord): readonly string[] => {
  const read = createNameReader(data)(0, data.length);
  return read === undefined ? [] : [read.name.text];
};

/** The system's resolver, and questions to port 53 of public addresses only: account holders choose the zones. */
export function systemDns(): DnsTools {
  const resolver = new Resolver({ timeout: limit, tries: 1, maxTimeout: limit });
  const emptyIfNone = (lookup: Promise<readonly string[]>): Promise<readonly string[]> =>
    lookup.catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENODATA" || error.code === "ENOTFOUND") return [];
      throw new Error(`the resolver of this machine does not answer (${error.code})`, { cause: error });
    });
  return {
    serversOf: (name) => emptyIfNone(resolver.resolveNs(name)),
    addressesOf: async (server) => {
      const lookups = await Promise.allSettled([resolver.resolve4(server), resolver.resolve6(server)]);
      return lookups.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    },
    mayAsk: (text) => {
      const address = parseAddress(text);
      return address !== undefined && mayBePrimary(address, []);
    },
    ask: (host, name, signal) =>
      askUdp(
        { host, port: 53, key: undefined },
        { opcode: opcodes.query, question: { name, type: ns, class: classes.in } },
        { signal, limit, now: Date.now },
      ),
  };
}

/** Does not reject: what could not be learned is part of the result. */
export type AskParent = (zone: string, signal: AbortSignal) => Promise<ParentView>;

/** Milliseconds per query, and for everything about one zone. */
const dsLimit = 3_000;
const wholeLimit = 20_000;
/**
 * Datagrams get lost, so each address is asked twice; the second address of a server may be reachable if the first is
 * not.
 */
const tries = 2;
/** Whoever owns the parent zone chooses how many servers it has. The root has 13. */
const mostServers = 32;

/** A server of the parent, and its addresses. */
type ParentServer = { readonly name: string; readonly peers: readonly Peer[] };

/**
 * The DS records of a zone, from each server of its parent itself, because a resolver may have older ones. `servers`:
 * asked instead of those that DNS names. Which servers a parent has, and which of them are silent, is remembered for
 * minutes: many zones have the same parent.
 */
export function createAskParent(
  servers: readonly Peer[] = [],
  tools: DnsTools = systemDns(),
  now: () => Instant = () => performance.now(),
): AskParent {
  const remembered = {
    ...tools,
    serversOf: rememberAnswers(tools.serversOf, now),
    addressesOf: rememberAnswers(tools.addressesOf, now),
  };
  const silences = new Silences(now);
  return async (zone, signal) => {
    const parents =
      servers.length > 0
        ? servers.map((peer) => ({ name: nameOf(peer), peers: [peer] }))
        : await parentServers(zone, remembered).catch((error: Error) => error.message);
    if (typeof parents === "string")
      return [{ because: `the nameservers of the parent zone are not known: ${parents}` }];
    const options = {
      signal: AbortSignal.any([signal, AbortSignal.timeout(wholeLimit)]),
      limit: dsLimit,
      now: Date.now,
      silences,
    };
    return await Promise.all(parents.map((server) => viewOf(server, zone, options)));
  };
}

async function parentServers(zone: string, tools: DnsTools): Promise<readonly ParentServer[] | string> {
  const names = await serversAbove(zone, tools);
  if (names.length > mostServers) return `it has ${names.length}, but at most ${mostServers} are asked`;
  return await Promise.all(
    names.map(async (name) => {
      const addresses = (await tools.addressesOf(name)).filter(tools.mayAsk);
      // Those of one family follow each other, and this machine may have no route for one of the families.
      const chosen = [addresses[0], addresses.find((each) => each.includes(":") !== addresses[0]?.includes(":"))];
      return { name, peers: chosen.flatMap((host) => (host ? [{ host, port: 53, key: undefined }] : [])) };
    }),
  );
}

type DsOptions = AskOptions & { readonly silences: Silences };

async function viewOf({ name, peers }: ParentServer, zone: string, options: DsOptions): Promise<ServerView> {
  if (peers.length === 0) return { because: `${name} has no public address, or it was not found` };
  let because = "does not answer";
  for (const peer of peers) {
    const reply = await replyOf(peer, zone, options);
    const view = typeof reply === "string" ? reply : viewIn(reply, zone);
    if (typeof view !== "string") return { server: name, ...view };
    because = view;
  }
  return { because: `${name} ${because}` };
}

/** The whole answer, or why there is none. */
async function replyOf(peer: Peer, zone: string, { silences, ...options }: DsOptions): Promise<Message | string> {
  if (!silences.mayAsk(peer)) return "does not answer";
  const wanted = { name: zone, type: types.ds, class: classes.in };
  const asking = { opcode: opcodes.query, question: wanted };
  let reply: Message | undefined;
  for (let i = 0; i < tries && reply === undefined && !options.signal.aborted; i++)
    reply = await askUdp(peer, asking, options).catch(() => undefined);
  if (!options.signal.aborted) silences.note(peer, reply === undefined);
  if (reply?.truncated) {
    reply = await firstOver(askTcp(peer, asking, options)).catch(() => undefined);
    if (reply === undefined || reply.truncated) return "has an answer too large for UDP, and none over TCP";
  }
  const [question] = reply?.questions ?? [];
  if (reply !== undefined && (question?.name !== zone || question.type !== types.ds)) return "answers another question";
  return reply ?? "does not answer";
}

async function firstOver(parts: ReturnType<typeof askTcp>): Promise<Message | undefined> {
  for await (const { message } of parts) return message;
  return undefined;
}

/** Only an answer of the parent zone itself counts; a server of the zone below says that there is no DS record. */
function viewIn({ rcode, authoritative, answers, authorities }: Message, zone: string) {
  if (rcode !== rcodes.noError && rcode !== rcodes.nxDomain)
    return `answers with the error ${rcodeNames.get(rcode) ?? rcode}`;
  if (!authoritative) return "is not authoritative for the parent zone";
  const dsRecords = answers.filter(({ name, type }) => name === zone && type === types.ds);
  const ds = dsRecords.flatMap(({ data }) => readDs(data) ?? []);
  if (ds.length < dsRecords.length) return "has a malformed DS record";
  const above = new Set([...enclosing(zone).slice(1), ""]);
  if (ds.length === 0 && !authorities.some(({ name, type }) => type === types.soa && above.has(name)))
    return "answers for another zone than the parent";
  return { ds, ttl: dsRecords.reduce((most, { ttl }) => Math.max(most, ttl), 0) };
}

const rcodeNames: ReadonlyMap<number, string> = new Map([
  [rcodes.formErr, "FORMERR"],
  [rcodes.servFail, "SERVFAIL"],
  [rcodes.notImp, "NOTIMP"],
  [rcodes.refused, "REFUSED"],
]);

/** Account holders choose the names of zones, and so the parents. */
const most = 10_000;

type Lookup = (name: string) => Promise<readonly string[]>;

/** Milliseconds. A resolver that fails is asked about the same name again much sooner. */
const answerAge = 5 * 60_000;
const failureAge = 30_000;

/** Asks about each name once in five minutes. */
function rememberAnswers(lookup: Lookup, now: () => Instant): Lookup {
  const answers = new BoundedMap<string, { readonly answer: Promise<readonly string[]>; until: Instant }>(most);
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined && now() < known.until) return known.answer;
    const asked = { answer: lookup(name), until: now() + answerAge };
    asked.answer.catch(() => (asked.until = now() + failureAge));
    answers.set(name, asked);
    return asked.answer;
  };
}

/**
 * Milliseconds. The first is shorter than the pause between two visits of a zone, so that a second visit asks again.
 */
const silence = { first: 45_000, longest: 5 * 60_000 };
/** Longer than both tries of a query. */
const asking = 10_000;

type Silence = { readonly times: number; readonly until: Instant; readonly isAsked: boolean };

/**
 * Servers that have not answered. After a while each is asked about one zone, and only if it answers, about the others
 * too: a thousand zones must not each wait for the same silent server.
 */
class Silences {
  readonly #now: () => Instant;
  readonly #silences = new BoundedMap<string, Silence>(most);

  constructor(now: () => Instant) {
    this.#now = now;
  }

  mayAsk(peer: Peer): boolean {
    const silent = this.#silences.get(nameOf(peer));
    if (silent === undefined) return true;
    if (this.#now() < silent.until) return false;
    this.#silences.set(nameOf(peer), { ...silent, until: this.#now() + asking, isAsked: true });
    return true;
  }

  /** Whether a query was answered. Many may have been under way when the server became silent: they count once. */
  note(peer: Peer, isSilent: boolean): void {
    const before = this.#silences.get(nameOf(peer));
    if (!isSilent) return this.#silences.delete(nameOf(peer));
    if (before !== undefined && !before.isAsked) return;
    const times = (before?.times ?? 0) + 1;
    const until = this.#now() + Math.min(silence.longest, silence.first * 2 ** (times - 1));
    this.#silences.set(nameOf(peer), { times, until, isAsked: false });
  }
}
