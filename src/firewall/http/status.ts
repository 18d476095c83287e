import type { KeyStore } from "../access/keys.ts";
import { type EndpointName, mayCall } from "../access/privileges.ts";
import { describe, describeShortly, type FirewallConfig } from "../config.ts";
import {
  firmwareInfo,
  firmwareStatus,
  machineAddress,
  systemInformation,
  systemStatus,
} from "../kernel/about-machine.ts";
import type { activityOf } from "../report/activity.ts";
import { statisticsOf, trafficOf } from "../report/counters.ts";
import { arpRows, type NeighbourEntry } from "../report/neighbours.ts";
import { detailsOf, overviewOf } from "../report/overview.ts";
import type { Snapshot } from "../report/report.ts";
import { gatewayItems, gatewayRows, type HealthOf, type Route, routeRows } from "../report/routes.ts";
import * as answers from "./answers.ts";
import type { EndpointHandler } from "./call.ts";
import { fullText, holdersOf, type InterfaceEventStreams } from "./events.ts";
import { pageOfRequest } from "./page-rows.ts";

/** Each reader rejects if the kernel cannot be read. */
export type FirewallStatusOptions = {
  readonly config: FirewallConfig;
  readonly readSnapshot: () => Promise<Snapshot>;
  readonly readRoutes: (which: "default" | "all") => Promise<readonly Route[]>;
  readonly readArp: () => Promise<readonly NeighbourEntry[]>;
  readonly readActivity: () => Promise<ReturnType<typeof activityOf>>;
  readonly streams: Pick<InterfaceEventStreams, "open">;
  readonly keys: Pick<KeyStore, "stillGood">;
  readonly accessVersion: () => string;
  readonly now: () => Date;
  /** What the probe of the gateways says, if it is switched on. */
  readonly healthOf?: HealthOf | undefined;
};

type Endpoints = Partial<Record<EndpointName, EndpointHandler>>;

/** The endpoints that report the state of the machine. */
export const statusEndpoints = (options: FirewallStatusOptions) => ({
  ...interfaceEndpoints(options),
  ...overviewEndpoints(options),
  ...neighbourEndpoints(options),
  ...routeEndpoints(options),
  ...machineEndpoints(options),
  ...eventEndpoints(options),
});

const interfaceEndpoints = ({ config, readSnapshot, now }: FirewallStatusOptions) =>
  ({
    "diagnostics/interface/get_interface_config": async () => answers.data((await readSnapshot()).text),
    "diagnostics/interface/get_interface_names": async () => {
      const { report } = await readSnapshot();
      const names = [...report].map(([name, { flags }]) => [name, describe(config, name, flags)] as const);
      return answers.json(new Map(names.toSorted(([, a], [, b]) => (a < b ? -1 : Number(a > b)))));
    },
    "diagnostics/networkinsight/get_interfaces": async () => {
      const { report } = await readSnapshot();
      return answers.json(
        new Map(Array.from(report, ([name, { flags }]) => [name, describeShortly(config, name, flags)])),
      );
    },
    "diagnostics/interface/get_interface_statistics": async () =>
      answers.json(new Map([["statistics", asJson(statisticsOf(await readSnapshot(), config))]])),
    "diagnostics/traffic/interface": async () => {
      const interfaces = asJson(trafficOf(await readSnapshot(), config));
      return answers.json({ interfaces, time: now().getTime() / 1000 });
    },
  }) satisfies Endpoints;

function overviewEndpoints({ config, readSnapshot, readRoutes }: FirewallStatusOptions) {
  const readOverview = async (statistics: boolean) => {
    const [snapshot, routes] = await Promise.all([readSnapshot(), readRoutes("default")]);
    return overviewOf(snapshot, config, { statistics, routes, machineAddress: machineAddress() });
  };
  return {
    "interfaces/overview/export": async () => answers.jsonAsPage(await readOverview(true)),
    "interfaces/overview/interfaces_info": async ({ request, parameters }) => {
      const rows = await readOverview(!isFalseInPhp(parameters[0]));
      return answers.json(await pageOfRequest(request, rows));
    },
    "interfaces/overview/get_interface": async ({ parameters }) => {
      const row = (await readOverview(true)).find(({ device }) => device === parameters[0]);
      return answers.json({ message: row === undefined ? "failed" : detailsOf(row) });
    },
  } satisfies Endpoints;
}

function neighbourEndpoints({ config, readSnapshot, readArp }: FirewallStatusOptions) {
  const readArpRows = async () => {
    const [neighbours, snapshot] = await Promise.all([readArp(), readSnapshot()]);
    return arpRows(neighbours, snapshot, config);
  };
  return {
    "diagnostics/interface/get_arp": async () => answers.json(await readArpRows()),
    "diagnostics/interface/search_arp": async ({ request }) =>
      answers.json(await pageOfRequest(request, await readArpRows())),
  } satisfies Endpoints;
}

function routeEndpoints({ config, readSnapshot, readRoutes, healthOf }: FirewallStatusOptions) {
  const read = (which: "default" | "all") => Promise.all([readRoutes(which), readSnapshot()]);
  return {
    "diagnostics/interface/get_routes": async () => answers.json(routeRows(...(await read("all")), config)),
    "routing/settings/search_gateway": async ({ request }) => {
      const [routes, { report }] = await read("default");
      return answers.json(await pageOfRequest(request, gatewayRows(routes, report, config, healthOf)));
    },
    "routes/gateway/status": async () => {
      const [routes, { report }] = await read("default");
      return answers.json({ items: gatewayItems(routes, report, healthOf), status: "ok" });
    },
  } satisfies Endpoints;
}

const machineEndpoints = ({ readActivity, now }: FirewallStatusOptions) =>
  ({
    "diagnostics/activity/get_activity": async () => answers.json(await readActivity()),
    "core/firmware/info": async () => answers.json(firmwareInfo(now())),
    "core/firmware/status": async () => answers.json(firmwareStatus(now())),
    "core/system/status": async () => answers.json(systemStatus()),
    "diagnostics/system/system_information": async () => answers.json(systemInformation()),
  }) satisfies Endpoints;

function eventEndpoints(options: FirewallStatusOptions) {
  const mayListen = createListenerCheck(options);
  return {
    [events]: async ({ key, from, request, response }) => {
      const mayStay = async () => mayListen(key.key, from);
      const holders = holdersOf("key", key.key, key.name);
      const opened = await options.streams.open(request, response, { mayStay, holders });
      if (opened === "taken") return opened;
      return answers.tooManyStreams(opened.holder ? 429 : 503, fullText(opened));
    },
  } satisfies Endpoints;
}

const isFalseInPhp = (text = ""): boolean => text === "" || text === "0";

const events = "diagnostics/interface/events";

/**
 * A stream must end when its key is revoked. The result is cached, so that a hundred listeners with one key cost one
 * check until something is written to the keys.
 */
function createListenerCheck({
  keys,
  accessVersion,
  now,
}: Pick<FirewallStatusOptions, "keys" | "accessVersion" | "now">) {
  let [askedAt, version, verdicts] = [Number.NEGATIVE_INFINITY, "", new Map<string, boolean>()];
  return (key: string, from: string): boolean => {
    const at = now();
    const written = accessVersion();
    if (written !== version || Math.abs(at.getTime() - askedAt) > 20)
      [askedAt, version, verdicts] = [at.getTime(), written, new Map()];
    const id = `${key} ${from}`;
    const may = verdicts.get(id) ?? mayCall(keys.stillGood(key, { from, now: at })?.privileges ?? [], events);
    verdicts.set(id, may);
    return may;
  };
}

/** An empty PHP array is a list. No key is a number, so a plain object keeps the order. */
const asJson = (map: ReadonlyMap<string, object>): unknown => (map.size === 0 ? [] : Object.fromEntries(map));
