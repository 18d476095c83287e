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
  readonly serversOf?: (zone: string) => Promise<readonly NameServer[]>;
};

const longest = 60_000;
const slowest = 5_000;

/** Asks every authoritative server, at growing intervals, until all return the value and nothing else. */
export async function confirmDns(
  request: ConfirmRequest,
  signal: AbortSignal,
  { limit = longest, serversOf = authoritative }: ConfirmOptions = {},
): Promise<Confirmation> {
  const end = performance.now() + limit;
  const nameServers = request.servers.map((address): NameServer => [address]);
  let doubt = "no server was asked";
  for (let delay = 250; !signal.aborted; delay = Math.min(slowest, delay * 2)) {
    const servers = nameServers.length > 0 ? nameServers : await serversOf(request.zone);
    const doubts = await Promise.all(servers.map((server) => doubtOf(request, server)));
    const [first] = doubts.filter((each) => each !== undefined);
    if (servers.length > 0 && first === undefined) return { kind: "confirmed", servers: servers.length };
    doubt = first ?? `no nameserver of ${request.zone} was found`;
    if (performance.now() + delay > end) break;
    await pause(delay, undefined, { signal }).catch(() => undefined);
  }
  const todo = "check that the zone is delegated to the servers of this record service";
  return { kind: "unconfirmed", because: doubt, todo };
}

/** One address that answers is enough: this machine may have no route to the others, for example without IPv6. */
async function doubtOf(request: ConfirmRequest, addresses: NameServer): Promise<string | undefined> {
  const answers = await Promise.all(addresses.map((address) => askAddress(request, address)));
  const isRight = ({ found }: AddressAnswer) => found?.length === 1 && found[0] === request.value;
  const isSilent = ({ code }: AddressAnswer) => code !== undefined && silences.has(code);
  const wrong = answers.find((answer) => !isRight(answer) && !isSilent(answer));
  if (wrong === undefined && answers.some(isRight)) return undefined;
  const { address, found = [], code } = wrong ?? answers.find(isSilent) ?? {};
  return code ? `${address} has no answer (${code})` : `${address} still returns ${firstFew(found, " and ")}`;
}

/** What is found at one address of a nameserver; without an answer, the code of the error. */
type AddressAnswer = { readonly address: string; readonly found?: readonly string[]; readonly code?: string };

export async function askAddress(
  { name, family }: Pick<ConfirmRequest, "name" | "family">,
  address: string,
): Promise<AddressAnswer> {
  const resolver = await openResolver();
  resolver.setServers([address]);
  try {
    const texts = await (family === "ipv4" ? resolver.resolve4(name) : resolver.resolve6(name));
    return { address, found: texts.map((text) => parseAddress(text)?.text ?? text) };
  } catch (error) {
    return { address, code: (error as NodeJS.ErrnoException).code ?? "unknown" };
  }
}

async function openResolver(): Promise<Resolver> {
  const { Resolver } = await import("node:dns/promises");
  return new Resolver({ timeout: 2_000, tries: 2 });
}

const silences: ReadonlySet<string> = new Set(["ECONNREFUSED", "ETIMEOUT"]);

/** The configured zone may be only a name inside a zone: then the nameservers are those of the zone above. */
export async function authoritative(zone: string, from?: Resolver): Promise<readonly NameServer[]> {
  const resolver = from ?? (await openResolver());
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
