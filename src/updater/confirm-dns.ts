import type { Resolver } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type Family, parseAddress } from "../core/address.ts";
import { bracketed } from "../process/listen-address.ts";

/** Whether the world sees what was written. A record that is written and not answered is written all the same. */
export type Confirmation =
  | { readonly kind: "confirmed"; readonly servers: number }
  | { readonly kind: "unconfirmed"; readonly because: string; readonly todo: string };

export type ConfirmOrder = {
  readonly zone: string;
  /** Absolute. */
  readonly name: string;
  readonly family: Family;
  readonly value: string;
  /** Asked instead of the zone's own, when there are any. */
  readonly servers: readonly string[];
};

const longest = 60_000;
const slowest = 5_000;

/** Asks every authoritative server until all answer with the value and nothing else: after half a second, then more rarely. */
export async function confirmDns(order: ConfirmOrder, signal: AbortSignal, limit = longest): Promise<Confirmation> {
  const { Resolver } = await import("node:dns/promises");
  const open = (server?: string) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (server !== undefined) resolver.setServers([server]);
    return resolver;
  };
  const end = performance.now() + limit;
  let doubt = "no server was asked";
  for (let delay = 250; !signal.aborted; delay = Math.min(slowest, delay * 2)) {
    const servers = order.servers.length > 0 ? order.servers : await authoritative(order.zone, open());
    const doubts = await Promise.all(servers.map((server) => doubtOf(order, server, open(server))));
    const [first] = doubts.filter((each) => each !== undefined);
    if (servers.length > 0 && first === undefined) return { kind: "confirmed", servers: servers.length };
    doubt = first ?? `no name server of ${order.zone} could be found`;
    if (performance.now() + delay > end) break;
    await pause(delay, undefined, { signal, ref: false }).catch(() => undefined);
  }
  const todo = "see whether the zone is delegated to the servers of this record service";
  return { kind: "unconfirmed", because: doubt, todo };
}

async function doubtOf(
  { name, family, value }: ConfirmOrder,
  server: string,
  resolver: Resolver,
): Promise<string | undefined> {
  try {
    const found = await (family === "ipv4" ? resolver.resolve4(name) : resolver.resolve6(name));
    const held = found.map((text) => parseAddress(text)?.text ?? text);
    return held.length === 1 && held[0] === value ? undefined : `${server} still answers ${held.join(" and ")}`;
  } catch (error) {
    return `${server} has no answer (${(error as NodeJS.ErrnoException).code ?? "unknown"})`;
  }
}

async function authoritative(zone: string, resolver: Resolver): Promise<readonly string[]> {
  const names = await resolver.resolveNs(zone).catch(() => []);
  const found = await Promise.all(
    names.flatMap((name) => [resolver.resolve4(name).catch(() => []), resolver.resolve6(name).catch(() => [])]),
  );
  return found.flat().map(bracketed);
}
