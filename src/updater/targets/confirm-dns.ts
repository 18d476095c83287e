import type { Resolver } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";
import { bracketed, type Family, parseAddress } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { enclosing } from "../../core/names/name.ts";

/** Whether DNS returns what was written. A record counts as written even if it is not confirmed. */
export type Confirmation =
  | { readonly kind: "confirmed"; readonly servers: number }
  | { readonly kind: "unconfirmed"; readonly because: string; readonly todo: string };

export type ConfirmRequest = {
  readonly zone: string;
  /** Absolute. */
  readonly name: string;
  readonly family: Family;
  readonly value: string;
  /** If not empty, asked instead of the zone's own servers. */
  readonly servers: readonly string[];
};

/** The addresses of one server. */
export type NameServer = readonly string[];

export type ConfirmOptions = {
  readonly limit?: number;
  readonly serversOf?: (zone: string, resolver: Resolver) => Promise<readonly NameServer[]>;
};

const longest = 60_000;
const slowest = 5_000;

/** Asks every authoritative server, at growing intervals, until all return the value and nothing else. */
export async function confirmDns(
  request: ConfirmRequest,
  signal: AbortSignal,
  { limit = longest, serversOf = authoritative }: ConfirmOptions = {},
): Promise<Confirmation> {
  const { Resolver } = await import("node:dns/promises");
  const open = (server?: string) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (server !== undefined) resolver.setServers([server]);
    return resolver;
  };
  const end = performance.now() + limit;
  const nameServers = request.servers.map((address): NameServer => [address]);
  let doubt = "no server was asked";
  for (let delay = 250; !signal.aborted; delay = Math.min(slowest, delay * 2)) {
    const servers = nameServers.length > 0 ? nameServers : await serversOf(request.zone, open());
    const doubts = await Promise.all(servers.map((server) => doubtOf(request, server, open)));
    const [first] = doubts.filter((each) => each !== undefined);
    if (servers.length > 0 && first === undefined) return { kind: "confirmed", servers: servers.length };
    doubt = first ?? `no nameserver of ${request.zone} was found`;
    if (performance.now() + delay > end) break;
    await pause(delay, undefined, { signal }).catch(() => undefined);
  }
  const todo = "check that the zone is delegated to the servers of this record service";
  return { kind: "unconfirmed", because: doubt, todo };
}

type ServerAnswer =
  | { readonly kind: "right" }
  | { readonly kind: "wrong"; readonly doubt: string }
  | { readonly kind: "silent"; readonly doubt: string };

/** One address that answers is enough: this machine may have no route to the others, for example without IPv6. */
async function doubtOf(
  request: ConfirmRequest,
  addresses: NameServer,
  open: (address: string) => Resolver,
): Promise<string | undefined> {
  const answers = await Promise.all(addresses.map((address) => askServer(request, address, open(address))));
  const wrong = answers.find((each) => each.kind === "wrong");
  if (wrong || answers.some(({ kind }) => kind === "right")) return wrong?.doubt;
  return answers.find((each) => each.kind === "silent")?.doubt;
}

async function askServer(
  { name, family, value }: ConfirmRequest,
  address: string,
  resolver: Resolver,
): Promise<ServerAnswer> {
  try {
    const texts = await (family === "ipv4" ? resolver.resolve4(name) : resolver.resolve6(name));
    const addresses = texts.map((text) => parseAddress(text)?.text ?? text);
    if (addresses.length === 1 && addresses[0] === value) return { kind: "right" };
    return { kind: "wrong", doubt: `${address} still returns ${firstFew(addresses, " and ")}` };
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    return { kind: silences.has(code) ? "silent" : "wrong", doubt: `${address} has no answer (${code})` };
  }
}

const silences: ReadonlySet<string> = new Set(["ECONNREFUSED", "ETIMEOUT"]);

/** The configured zone may be only a name inside a zone: then the nameservers are those of the zone above. */
export async function authoritative(zone: string, resolver: Resolver): Promise<readonly NameServer[]> {
  for (const above of enclosing(zone).filter((name) => name.includes("."))) {
    const names = await resolver.resolveNs(above).catch(() => []);
    if (names.length > 0) return serversOf(names, resolver);
  }
  return [];
}

async function serversOf(names: readonly string[], resolver: Resolver): Promise<readonly NameServer[]> {
  const servers = await Promise.all(
    names.map(async (name) => {
      const both = [resolver.resolve4(name).catch(() => []), resolver.resolve6(name).catch(() => [])];
      return (await Promise.all(both)).flat().map(bracketed);
    }),
  );
  return servers.filter((addresses) => addresses.length > 0);
}
