import { type RunIpOptions, runIp } from "../kernel/run-ip.ts";
import type { Report } from "./report.ts";

/** A default route, as `ip -json route` tells it. */
export type DefaultRoute = {
  readonly family: "inet" | "inet6";
  readonly dev: string;
  /** Not there on point-to-point links. */
  readonly gateway?: string;
  readonly flags: readonly string[];
};

export type GatewayItem = Readonly<
  Record<"name" | "address" | "status" | "loss" | "delay" | "stddev" | "monitor" | "status_translated", string>
>;

/** Nothing is probed: a gateway is up when its link is, and the kernel does not say otherwise. */
export function gatewayItems(routes: readonly DefaultRoute[], report: Report): readonly GatewayItem[] {
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

/** Without `ip` nobody knows: no routes. */
export async function readDefaultRoutes(options: RunIpOptions = {}): Promise<readonly DefaultRoute[]> {
  const both = await Promise.all(
    (["inet", "inet6"] as const).map(async (family) => {
      const found = await runIp(["-json", "-family", family, "route", "show", "default"], options);
      return found === undefined ? [] : parseRoutes(found.printed, family);
    }),
  );
  return both.flat();
}

export function parseRoutes(printed: string, family: DefaultRoute["family"]): readonly DefaultRoute[] {
  const parsed: unknown = printed.trim() === "" ? [] : JSON.parse(printed);
  if (!Array.isArray(parsed)) throw new Error("what `ip route` printed is not a list of routes");
  return parsed.flatMap((row: Readonly<Record<string, unknown>>) => {
    // A route over several gateways lists them.
    const hops: readonly unknown[] = Array.isArray(row.nexthops) ? row.nexthops : [row];
    return hops.flatMap((hop) => oneHop(hop as Readonly<Record<string, unknown>>, family));
  });
}

function oneHop(hop: Readonly<Record<string, unknown>>, family: DefaultRoute["family"]): DefaultRoute[] {
  const { dev, gateway, flags } = hop;
  if (typeof dev !== "string") return [];
  const words: readonly unknown[] = Array.isArray(flags) ? flags : [];
  return [
    {
      family,
      dev,
      ...(typeof gateway === "string" && { gateway }),
      flags: words.filter((word) => typeof word === "string"),
    },
  ];
}
