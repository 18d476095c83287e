import { parseIpJson } from "../../lib/kernel/ip-json.ts";
import { type RunIpOptions, runIp } from "../../lib/kernel/run-ip.ts";
import { describe, type FirewallConfig, identify } from "../config.ts";
import type { GatewayHealth, ProbedGateway } from "../kernel/probe-gateways.ts";
import type { Report, Snapshot } from "./report.ts";

/** A route, or one of the gateways of a multipath route, as `ip -json route` prints it. */
export type Route = {
  readonly family: "inet" | "inet6";
  /** `default`, or a network or address. */
  readonly destination: string;
  readonly dev: string;
  /** Absent on point-to-point links and for directly connected networks. */
  readonly gateway?: string;
  readonly flags: readonly string[];
  /** Who set it: `kernel`, `static`, `dhcp`, `ra` …; absent for a manual `ip route add`. */
  readonly protocol?: string;
  /** Seconds. */
  readonly expires?: number;
};

/** Only default routes, or the whole main table. */
export async function readRoutes(which: "default" | "all", options: RunIpOptions = {}): Promise<readonly Route[]> {
  const table = which === "default" ? ["default"] : ["table", "main"];
  const both = await Promise.all(
    (["inet", "inet6"] as const).map(async (family) => {
      const ipOutput = await runIp(["-json", "-family", family, "route", "show", ...table], options);
      return ipOutput === undefined ? undefined : parseRoutes(ipOutput.printed, family);
    }),
  );
  const allRoutes = both.filter((routes) => routes !== undefined).flat();
  // Default routes are only part of other responses, which are valid without them.
  if (which === "all" && both.includes(undefined)) throw new Error("routes cannot be read without `ip` (iproute2)");
  return allRoutes;
}

export function parseRoutes(printed: string, family: Route["family"]): readonly Route[] {
  const parsed: unknown = printed.trim() === "" ? [] : parseIpJson(printed);
  if (!Array.isArray(parsed)) throw new Error("the output of `ip route` is not a list of routes");
  return parsed.flatMap((row: Fields) => {
    // A multipath route lists its gateways.
    const hops: readonly unknown[] = Array.isArray(row.nexthops) ? row.nexthops : [row];
    return hops.flatMap((hop) => oneHop(row, hop as Fields, family));
  });
}

type Fields = Readonly<Record<string, unknown>>;

function oneHop(row: Fields, hop: Fields, family: Route["family"]): Route[] {
  const { dev, flags } = hop;
  const { dst, protocol, expires } = row;
  if (typeof dev !== "string") return [];
  const words: readonly unknown[] = Array.isArray(flags) ? flags : [];
  const gateway = hop.gateway ?? (hop.via as Fields | undefined)?.host;
  return [
    {
      family,
      destination: typeof dst === "string" ? dst : "default",
      dev,
      ...(typeof gateway === "string" && { gateway }),
      flags: words.filter((word) => typeof word === "string"),
      ...(typeof protocol === "string" && { protocol }),
      ...(typeof expires === "number" && { expires }),
    },
  ];
}

/** The columns of FreeBSD's `netstat -rn`, all as text; Linux has no next-hop numbers. */
export function routeRows(routes: readonly Route[], { rows, report }: Snapshot, config: FirewallConfig) {
  return routes.flatMap((route) => {
    const device = report.get(route.dev);
    if (device === undefined) return [];
    const index = rows.find(({ ifname }) => ifname === route.dev)?.ifindex ?? 0;
    return [
      {
        proto: route.family === "inet" ? "ipv4" : "ipv6",
        destination: withZone(route.destination, route.dev),
        gateway: route.gateway === undefined ? `link#${index}` : withZone(route.gateway, route.dev),
        flags: flagsOf(route),
        "nhop#": "",
        mtu: device.mtu ?? "",
        netif: route.dev,
        expire: route.expires === undefined ? "" : String(route.expires),
        intf_description: describe(config, route.dev, device.flags),
      },
    ];
  });
}

/** U: up, G: through a gateway, H: to a host, S: not set by the kernel. */
function flagsOf({ destination, family, gateway, flags, protocol }: Route): string {
  const isUp = !flags.includes("dead") && !flags.includes("linkdown");
  const isHost = destination !== "default" && (!destination.includes("/") || hostPrefix[family].test(destination));
  const isSet = protocol !== "kernel";
  return `${isUp ? "U" : ""}${gateway === undefined ? "" : "G"}${isHost ? "H" : ""}${isSet ? "S" : ""}`;
}

const hostPrefix = { inet: /\/32$/, inet6: /\/128$/ };

/** FreeBSD prints link-local addresses with their zone: `fe80::%eth0/64`. */
const withZone = (text: string, dev: string): string => text.replace(/^(fe[89ab][0-9a-f]:[^/%]*)/i, `$1%${dev}`);

export type GatewayItem = Readonly<
  Record<"name" | "address" | "status" | "loss" | "delay" | "stddev" | "monitor" | "status_translated", string>
>;

export type HealthOf = (gateway: ProbedGateway) => GatewayHealth | undefined;

/** A gateway is up if its link is, unless the kernel says otherwise, or a probe, if there is one. */
export function gatewayItems(
  routes: readonly Route[],
  report: Report,
  healthOf: HealthOf = () => undefined,
): readonly GatewayItem[] {
  const taken = new Map<string, number>();
  return routes.flatMap(({ family, dev, gateway, flags }) => {
    const device = report.get(dev);
    if (device === undefined) return [];
    const plain = `${dev.toUpperCase()}_${family === "inet" ? "GW" : "GW6"}`;
    const nth = (taken.get(plain) ?? 0) + 1;
    taken.set(plain, nth);
    const health = gateway === undefined ? undefined : healthOf({ dev, gateway });
    const hasLink = device.flags.includes("running") && !flags.includes("dead") && !flags.includes("linkdown");
    const up = hasLink && health?.isDown !== true;
    return [
      {
        name: nth === 1 ? plain : `${plain}_${nth}`,
        // A link-local address means nothing without its device.
        address: gateway === undefined ? "~" : /^fe[89ab]/i.test(gateway) ? `${gateway}%${dev}` : gateway,
        status: up ? "none" : "down",
        loss: health ? (up ? "0.0 %" : "100.0 %") : "~",
        delay: "~",
        stddev: "~",
        monitor: health && gateway !== undefined ? gateway : "~",
        status_translated: up ? "Online" : "Offline",
      },
    ];
  });
}

/**
 * The gateways as on the gateway page, with all settings that they have in OPNsense, which are texts except for a
 * few flags. `monitor_disable` says that nothing is probed.
 */
export function gatewayRows(routes: readonly Route[], report: Report, config: FirewallConfig, healthOf?: HealthOf) {
  const shownRoutes = routes.filter(({ dev }) => report.has(dev));
  const isFirst = (route: Route) => shownRoutes.find(({ family }) => family === route.family) === route;
  return gatewayItems(shownRoutes, report, healthOf).flatMap(
    ({ name, status, status_translated, monitor, ...item }, at) => {
      const { delay, stddev, loss } = item;
      const route = shownRoutes[at];
      const flags = route && report.get(route.dev)?.flags;
      if (route === undefined || flags === undefined) return [];
      return [
        {
          disabled: false,
          name,
          descr: `Default route on ${route.dev}`,
          interface: identify(config, route.dev),
          ipprotocol: route.family,
          gateway: route.gateway ?? "",
          defaultgw: isFirst(route),
          fargw: "0",
          monitor_disable: monitor === "~" ? "1" : "0",
          monitor_noroute: "0",
          monitor: monitor === "~" ? "" : monitor,
          force_down: "0",
          priority: "254",
          weight: "1",
          uuid: name,
          if: route.dev,
          attribute: at,
          dynamic: true,
          virtual: true,
          upstream: true,
          interface_descr: describe(config, route.dev, flags),
          status: status_translated,
          delay,
          stddev,
          loss,
          label_class: `fa fa-plug ${status === "none" ? "text-success" : "text-danger"}`,
        },
      ];
    },
  );
}
