import type { WireInterface, WireIpv4, WireIpv6 } from "../../contract/interfaces.ts";
import { bestFirst, isLinkLocal, isUnproven, withoutZone } from "../../lib/kernel/best-first.ts";
import { isMarked, type KernelAddress, type KernelRow } from "../../lib/kernel/row.ts";
import { type FirewallConfig, settingsOf } from "../config.ts";
import { reportKind } from "./kind.ts";
import { phpJson } from "./php-json.ts";

/** A map, not an object: a device may be called `7` or `__proto__`, and the order is the kernel's. */
export type Report = ReadonlyMap<string, WireInterface>;

/** The kernel's devices as OPNsense reports its own, in the order of their kernel index. */
export function reportOf(rows: readonly KernelRow[]): Report {
  const inOrder = rows.toSorted((a, b) => (a.ifindex ?? 0) - (b.ifindex ?? 0));
  return new Map(inOrder.map((row) => [row.ifname, reportDevice(row, rows)]));
}

function reportDevice(row: KernelRow, all: readonly KernelRow[]): WireInterface {
  const macaddr = isMac(row.address) ? row.address : noMac;
  const ethernet = row.link_type === "ether";
  return {
    flags: reportFlags(row),
    // The kernel's output has neither, and clients use them too little to query every driver.
    capabilities: [],
    options: [],
    macaddr,
    ipv4: bestFirst(row.addr_info.filter(({ family }) => family === "inet")).flatMap(reportIpv4),
    ipv6: bestFirst(row.addr_info.filter(({ family }) => family === "inet6")).flatMap(reportIpv6),
    supported_media: [],
    ...(row.link_type !== undefined && { is_physical: ethernet && isCard(row) }),
    device: row.ifname,
    ...(row.mtu !== undefined && { mtu: String(row.mtu) }),
    ...(ethernet && { macaddr_hw: isMac(row.permaddr) ? row.permaddr : macaddr }),
    ...reportKind(row, all),
    ...reportMedia(row),
    ...(ethernet && { status: row.flags.includes("LOWER_UP") ? "active" : "no carrier" }),
    ...reportNd6(row),
  };
}

/** A veth whose other end is outside this network namespace acts as the network card of a container. */
const isCard = ({ linkinfo, link_netnsid }: KernelRow): boolean =>
  linkinfo?.info_kind === undefined || (linkinfo.info_kind === "veth" && link_netnsid !== undefined);

const noMac = "00:00:00:00:00:00";
const isMac = (text: string | undefined): text is string => /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/.test(text ?? "");

/** FreeBSD's words in FreeBSD's order, without those that Linux does not have (simplex). */
const flagWords = [
  "UP",
  "BROADCAST",
  "LOOPBACK",
  "POINTOPOINT",
  "RUNNING",
  "NOARP",
  "PROMISC",
  "ALLMULTI",
  "MULTICAST",
  "LOWER_UP",
];

function reportFlags({ flags, promiscuity = 0 }: KernelRow): string[] {
  const set = new Set(flags);
  // `ip` prints no RUNNING; it prints NO-CARRIER for a device that is up but not running.
  if (set.has("UP") && !set.has("NO-CARRIER")) set.add("RUNNING");
  if (promiscuity > 0) set.add("PROMISC");
  return flagWords.filter((word) => set.has(word)).map((word) => word.toLowerCase());
}

/** Leaves out an address without a prefix length, as OPNsense does. */
function reportIpv4(address: KernelAddress): WireIpv4[] {
  if (address.prefixlen === undefined) return [];
  return [{ ipaddr: address.local, subnetbits: address.prefixlen, ...reportPeer(address) }];
}

function reportIpv6(address: KernelAddress): WireIpv6[] {
  if (address.prefixlen === undefined) return [];
  const ipaddr = withoutZone(address.local);
  const peer = reportPeer(address);
  const isDetailed = hasDetails(address);
  return [
    {
      ...(isDetailed && { autoconf: isAutoconfigured(address) }),
      ...(isDetailed && { deprecated: isMarked(address.deprecated) }),
      // Linux drops the prefix of a router that is gone instead of keeping it as detached.
      ...(isDetailed && { detached: false }),
      ipaddr,
      "link-local": isLinkLocal(ipaddr),
      ...(isDetailed && { pltime: lifetime(address.preferred_life_time) }),
      ...(isDetailed && { tentative: isUnproven(address) }),
      ...("tunnel" in peer && { tunnel: peer.tunnel }),
      ...(isDetailed && { vltime: lifetime(address.valid_life_time) }),
      ...("endpoint" in peer && { endpoint: peer.endpoint }),
      subnetbits: address.prefixlen,
    },
  ];
}

/** The kernel reports lifetimes for every address; if they are missing, the data comes from Node's short list. */
const hasDetails = (address: KernelAddress): boolean => address.valid_life_time !== undefined;

function reportPeer(address: KernelAddress): { tunnel: boolean; endpoint?: string } | Record<never, never> {
  if (!hasDetails(address)) return {};
  return address.address === undefined ? { tunnel: false } : { tunnel: true, endpoint: withoutZone(address.address) };
}

/** `dynamic` alone is not enough: DHCPv6 clients and people set lifetimes too. */
const isAutoconfigured = (address: KernelAddress): boolean =>
  address.protocol === "kernel_ra" ||
  isMarked(address.mngtmpaddr) ||
  isMarked(address.temporary) ||
  isMarked(address["stable-privacy"]);

const forever = 0xffffffff;
const lifetime = (seconds: number | undefined): string =>
  seconds === undefined || seconds === forever ? "0" : String(seconds);

/**
 * Linux knows a card's speed, but not the name of the cable standard, so the text has Linux's words in OPNsense's
 * format. Without a link there is none, as in OPNsense.
 */
export function reportMedia({ details, flags }: KernelRow): Pick<WireInterface, "media" | "media_raw"> {
  const { speed, duplex } = details ?? {};
  if (speed === undefined || !flags.includes("LOWER_UP")) return {};
  const media = `${speed}Mb/s${duplex === undefined ? "" : ` <${duplex}-duplex>`}`;
  return { media, media_raw: `Ethernet autoselect (${media})` };
}

/** FreeBSD's words for Linux's IPv6 settings of the device; nothing if they are not known. */
export function reportNd6({ details, flags }: KernelRow): Pick<WireInterface, "nd6"> {
  const settings = details?.ipv6;
  if (settings === undefined) return {};
  const words = {
    performnud: !flags.includes("NOARP"),
    // With forwarding on, Linux accepts router advertisements only if accept_ra is 2.
    accept_rtadv: settings.accept_ra === 2 || (settings.accept_ra === 1 && settings.forwarding === 0),
    ifdisabled: settings.disable_ipv6 === 1,
    auto_linklocal: settings.addr_gen_mode !== 1,
    no_dad: settings.accept_dad < 1 || flags.includes("NOARP") || flags.includes("LOOPBACK"),
  };
  return { nd6: { flags: Object.entries(words).flatMap(([word, holds]) => (holds ? [word] : [])) } };
}

/** The machine at one moment, as kernel rows and as the report. */
export type Snapshot = {
  readonly rows: readonly KernelRow[];
  readonly report: Report;
  /** The report as sent to clients, in one line. */
  readonly text: string;
  /** Milliseconds on the reader's clock. */
  readonly takenAt: number;
};

/** Leaves out hidden devices, so that no response of any kind has them. */
export function takeSnapshot(all: readonly KernelRow[], config: FirewallConfig, takenAt: number): Snapshot {
  const rows = all.filter(({ ifname }) => !settingsOf(config, ifname).hidden);
  const report = reportOf(rows);
  return { rows, report, text: phpJson(report), takenAt };
}
