import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { defaultGateway } from "./default-gateway.ts";
import { isOffline, readExternalAddress } from "./external-address.ts";
import { askNatPmp } from "./nat-pmp.ts";
import { type Search, type SsdpAnswer, searchGateways } from "./ssdp.ts";
import { createUpnpDevice } from "./upnp.ts";

/** A router on the network that can be a source without a password. */
export type FoundRouter = {
  /** The kind of source for it. */
  readonly kind: "fritzbox" | "igd";
  /** From its description. */
  readonly name: string;
  readonly address: string;
  /** Its external IPv4 address; undefined if it reported none. */
  readonly external?: string;
  /** It is the default gateway of this machine; only that one is found again without `gateway:` in the config. */
  readonly isOwn: boolean;
};

export type Finding = {
  readonly connect: (endpoint: Endpoint) => Promise<HttpClient>;
  /** Milliseconds to wait for answers. */
  readonly wait?: number;
  /** Send nothing to any router except the one that this machine uses. */
  readonly onlyOwn?: boolean;
  /** For tests: what to use instead of the network and the routing table of this machine. */
  readonly places?: Search["places"];
  readonly gateway?: string | undefined;
};

/**
 * Searches the networks of this machine, for `moor init`. The router that this machine uses comes first. Never throws.
 */
export async function findRouters(finding: Finding, signal: AbortSignal): Promise<readonly FoundRouter[]> {
  const { wait = 2_000, onlyOwn = false, places, gateway = defaultGateway() } = finding;
  const answers = await searchGateways({ wait, also: gateway, places }, signal);
  // A router may have several descriptions, for example as version 1 and 2.
  const wanted = onlyOwn ? answers.filter(({ address }) => address === gateway) : answers;
  const byAddress = new Map(wanted.toReversed().map((answer) => [answer.address, answer]));
  const described = await Promise.all(
    [...byAddress.values()].map((answer) => describe(answer, gateway, finding, signal)),
  );
  const routers = described.filter((router) => router !== undefined);
  if (gateway !== undefined && !routers.some(({ isOwn }) => isOwn)) {
    const natPmp = await askNatPmp(gateway, signal);
    if (natPmp.kind === "address") routers.push({ ...byNatPmp, address: gateway, ...externalOf(natPmp.text) });
  }
  return routers.toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
}

const byNatPmp = { kind: "igd", name: "a router with NAT-PMP", isOwn: true } as const;

const externalOf = (text: string) => (isOffline(text) ? {} : { external: text });

async function describe(
  { address, location }: SsdpAnswer,
  gateway: string | undefined,
  { connect }: Finding,
  signal: AbortSignal,
): Promise<FoundRouter | undefined> {
  const device = createUpnpDevice(async () => location, { timeout: 3_000, connect });
  try {
    const search = await device.find(signal);
    if (search.kind !== "found") return undefined;
    const kind = /^AVM\b|FRITZ!/i.test(`${search.manufacturer} ${search.name}`) ? "fritzbox" : "igd";
    const external = await readExternalAddress(device, signal);
    const externalAddress = external.kind === "address" ? externalOf(external.text) : {};
    return { kind, name: search.name, address, ...externalAddress, isOwn: address === gateway };
  } finally {
    device.close();
  }
}
