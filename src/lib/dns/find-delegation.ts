import { Resolver } from "node:dns/promises";
import { parseAddress } from "../../core/addresses/address.ts";
import { mayBePrimary } from "../../core/addresses/primary-address.ts";
import { enclosing } from "../../core/names/name.ts";
import { askUdp } from "./ask.ts";
import { classes, opcodes } from "./codes.ts";
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
export async function serversAbove(
  zone: string,
  { serversOf }: Pick<DnsTools, "serversOf">,
): Promise<readonly string[]> {
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
  const given = (found: Promise<readonly string[]>): Promise<readonly string[]> =>
    found.catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENODATA" || error.code === "ENOTFOUND") return [];
      throw new Error(`the resolver of this machine does not answer (${error.code})`, { cause: error });
    });
  return {
    serversOf: (name) => given(resolver.resolveNs(name)),
    addressesOf: async (server) => {
      const found = await Promise.allSettled([resolver.resolve4(server), resolver.resolve6(server)]);
      return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
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
