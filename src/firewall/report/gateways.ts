import { describe, type FirewallConfig, identify } from "../config.ts";
import type { Report } from "./report.ts";
import type { Route } from "./routes.ts";

export type GatewayItem = Readonly<
  Record<"name" | "address" | "status" | "loss" | "delay" | "stddev" | "monitor" | "status_translated", string>
>;

/** Nothing is probed: a gateway is up if its link is, unless the kernel says otherwise. */
export function gatewayItems(routes: readonly Route[], report: Report): readonly GatewayItem[] {
  const taken = new Map<string, number>();
  return routes.flatMap(({ family, dev, gateway, flags }) => {
    const device = report.get(dev);
    if (device === undefined) return [];
    const plain = `${dev.toUpperCase()}_${family === "inet" ? "GW" : "GW6"}`;
    const nth = (taken.get(plain) ?? 0) + 1;
    taken.set(plain, nth);
    const up = device.flags.includes("running") && !flags.includes("dead") && !flags.includes("linkdown");
    return [
      {
        name: nth === 1 ? plain : `${plain}_${nth}`,
        address: gateway ?? "~",
        status: up ? "none" : "down",
        ...{ loss: "~", delay: "~", stddev: "~", monitor: "~" },
        status_translated: up ? "Online" : "Offline",
      },
    ];
  });
}

/**
 * The gateways as on the gateway page, with all settings that they have in OPNsense, which are texts except for a
 * few flags. `monitor_disable` says that nothing is probed.
 */
export function gatewayRows(routes: readonly Route[], report: Report, config: FirewallConfig) {
  const known = routes.filter(({ dev }) => report.has(dev));
  const isFirst = (route: Route) => known.find(({ family }) => family === route.family) === route;
  return gatewayItems(known, report).flatMap(({ name, status, status_translated, delay, stddev, loss }, at) => {
    const route = known[at];
    const flags = route && report.get(route.dev)?.flags;
    if (route === undefined || flags === undefined) return [];
    return [
      {
        ...{ disabled: false, name, descr: `Default route on ${route.dev}`, interface: identify(config, route.dev) },
        ...{ ipprotocol: route.family, gateway: route.gateway ?? "", defaultgw: isFirst(route), fargw: "0" },
        ...{ monitor_disable: "1", monitor_noroute: "0", monitor: "", force_down: "0", priority: "254", weight: "1" },
        ...{ uuid: name, if: route.dev, attribute: at, dynamic: true, virtual: true, upstream: true },
        interface_descr: describe(config, route.dev, flags),
        ...{ status: status_translated, delay, stddev, loss },
        label_class: `fa fa-plug ${status === "none" ? "text-success" : "text-danger"}`,
      },
    ];
  });
}
