import { families } from "../../core/addresses/address.ts";
import { visible } from "../../core/visible-text.ts";
import { createHttpClient } from "../../lib/http-client/client.ts";
import { defaultGateway } from "../../updater/sources/gateway/default-gateway.ts";
import { type FoundRouter, findRouters } from "../../updater/sources/gateway/find-routers.ts";
import { reportConnection } from "../../updater/sources/only-connection.ts";
import { type RecognisedRouter, recogniseRouter } from "../../updater/sources/routers/recognise-router.ts";
import { onlyDevice } from "../../updater/sources/source.ts";
import { openSource, sourceKinds, usualKind } from "../../updater/sources/sources.ts";
import type { CommandIo } from "../io/command-io.ts";
import { isDown, publicAddress } from "./devices.ts";

/** A source that was found. `settings` are what is known about it, to be confirmed or used. */
export type Proposal = {
  readonly kind: string;
  readonly because: string;
  readonly settings: Readonly<Record<string, string>>;
  /** It reports no public address at the moment: the services on the internet know better. */
  readonly isDoubtful?: true;
};

/** Milliseconds for everything together, and for answers to the search. */
const longest = 5_000;
const searching = 1_500;

/**
 * Sources of the public address on this machine and its network, the best first. Only the default gateway is queried.
 */
export async function discover(io: CommandIo): Promise<readonly Proposal[]> {
  const gateway = defaultGateway();
  const router = gateway === undefined ? "" : ` and at its router ${gateway} (UPnP, NAT-PMP, its web page)`;
  io.out(`Looking for the public address: on the interfaces of this machine${router}.\n`);
  io.out(`This takes up to ${longest / 1_000} seconds, and no password is sent. --kind KIND skips it.\n`);
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(longest)]);
  const [own, page, routers] = await Promise.all([
    ownAddress(gateway, signal),
    gateway === undefined ? undefined : recogniseRouter(gateway, createHttpClient, signal).catch(() => undefined),
    gateway === undefined ? [] : findRouters({ connect: createHttpClient, wait: searching, onlyOwn: true }, signal),
  ]);
  const proposals = proposalsFrom({ own, page, routers });
  for (const { because } of proposals) io.out(`Found: ${visible(because)}\n`);
  if (proposals.length === 0) io.out("Nothing was found.\n");
  return proposals;
}

export type Discovered = {
  /** A device of this machine with a public address. */
  readonly own: { readonly device: string; readonly address: string } | undefined;
  readonly page: RecognisedRouter | undefined;
  readonly routers: readonly FoundRouter[];
};

/**
 * A public address on the machine itself is certain, and its kernel pushes changes. A FRITZ!Box knows both families
 * without a password, a router with an API needs one, and any other router knows only its IPv4 address.
 */
export function proposalsFrom({ own, page, routers }: Discovered): readonly Proposal[] {
  const upnp = routers.map(proposeRouter);
  return [
    ...(own ? [{ kind: "interface", because: `${own.device} has ${own.address}`, settings: {} }] : []),
    ...upnp.filter(({ kind, isDoubtful }) => kind === "fritzbox" && !isDoubtful),
    ...(page ? [proposePage(page)] : []),
    ...upnp.filter(({ kind, isDoubtful }) => kind !== "fritzbox" && !isDoubtful),
    ...upnp.filter(({ isDoubtful }) => isDoubtful),
  ];
}

function proposeRouter({ kind, name, address, external }: FoundRouter): Proposal {
  const settings: Proposal["settings"] = kind === "fritzbox" ? { url: `http://${address}:49000` } : {};
  const isPublic =
    external !== undefined && publicAddress(reportConnection([external], []), onlyDevice, "ipv4") !== undefined;
  const reports = external === undefined ? "reports no address" : `reports ${external}`;
  const because = `${name} at ${address} ${reports}`;
  if (isPublic) return { kind, because, settings };
  return {
    kind,
    because: external === undefined ? because : `${because}, which is not public`,
    settings,
    isDoubtful: true,
  };
}

/** The two names of one kind of firewall are one choice. */
const proposePage = ({ kind, url }: RecognisedRouter): Proposal => ({
  kind: sourceKinds[kind] === sourceKinds[usualKind] ? usualKind : kind,
  because: `${url.hostname} looks like ${names[kind]}`,
  settings: { url: url.href },
});

const names: Readonly<Record<RecognisedRouter["kind"], string>> = {
  opnsense: "OPNsense",
  pfsense: "pfSense",
  openwrt: "OpenWrt",
  mikrotik: "a MikroTik router",
};

/** A machine behind a router has a public IPv6 address too, but not the IPv4 address that others see. */
async function ownAddress(gateway: string | undefined, signal: AbortSignal): Promise<Discovered["own"]> {
  const source = await openSource({ name: "interface", kind: "interface" });
  try {
    const reading = await source.read(signal);
    if (reading.kind === "unavailable") return undefined;
    const addresses = families.flatMap((family) =>
      [...reading.report.keys()].flatMap((device) => {
        const address = isDown(reading.report, device) ? undefined : publicAddress(reading.report, device, family);
        return address === undefined || (family === "ipv6" && gateway !== undefined) ? [] : [{ device, address }];
      }),
    );
    return addresses[0];
  } finally {
    source.close();
  }
}
