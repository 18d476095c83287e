import type { KeyStore } from "../access/keys.ts";
import { type EndpointName, mayCall } from "../access/privileges.ts";
import { describe, describeShortly, type FirewallConfig } from "../config.ts";
import { firmwareInfo, firmwareStatus, systemInformation, systemStatus } from "../kernel/about-machine.ts";
import { statisticsOf, trafficOf } from "../report/counters.ts";
import { gatewayItems } from "../report/gateways.ts";
import { overviewOf } from "../report/overview.ts";
import { detailsOf } from "../report/overview-details.ts";
import { phpJson } from "../report/php-json.ts";
import type { Route } from "../report/routes.ts";
import type { Snapshot } from "../report/snapshot.ts";
import * as answers from "./answers.ts";
import type { Endpoint } from "./call.ts";
import { type EventStreams, fullText, holdersOf } from "./events.ts";
import { pageRows, readPageWish } from "./page-rows.ts";
import { readFields } from "./read-fields.ts";

export type StatusOptions = {
  readonly config: FirewallConfig;
  /** Rejects when the kernel could not be read. */
  readonly readSnapshot: () => Promise<Snapshot>;
  readonly readRoutes: (which: "default") => Promise<readonly Route[]>;
  readonly streams: EventStreams;
  readonly keys: Pick<KeyStore, "stillGood">;
  readonly accessVersion: () => string;
  readonly now: () => Date;
};

/** What the machine is like. */
export function statusEndpoints(options: StatusOptions) {
  const { config, readSnapshot, readRoutes, streams, now } = options;
  const mayListen = createListenerCheck(options);
  const readOverview = async (statistics: boolean) => {
    const [snapshot, routes] = await Promise.all([readSnapshot(), readRoutes("default")]);
    return overviewOf(snapshot, config, { statistics, routes });
  };
  return {
    "diagnostics/interface/get_interface_config": async () => answers.data((await readSnapshot()).text),
    [events]: async ({ key, from, request, response }) => {
      const mayStay = async () => mayListen(key.key, from);
      const opened = await streams.open(request, response, { mayStay, holders: holdersOf("key", key.key, key.name) });
      if (opened === "taken") return opened;
      return answers.tooManyStreams(opened.holder ? 429 : 503, fullText(opened));
    },
    "diagnostics/interface/get_interface_names": async () => {
      const { report } = await readSnapshot();
      const names = [...report].map(([name, { flags }]) => [name, describe(config, name, flags)] as const);
      return answers.data(phpJson(new Map(names.toSorted(([, a], [, b]) => (a < b ? -1 : Number(a > b))))));
    },
    "diagnostics/networkinsight/get_interfaces": async () => {
      const { report } = await readSnapshot();
      return answers.data(
        phpJson(new Map(Array.from(report, ([name, { flags }]) => [name, describeShortly(config, name, flags)]))),
      );
    },
    "diagnostics/interface/get_interface_statistics": async () =>
      answers.data(phpJson(new Map([["statistics", asJson(statisticsOf(await readSnapshot(), config))]]))),
    "diagnostics/traffic/interface": async () => {
      const interfaces = asJson(trafficOf(await readSnapshot(), config));
      return answers.data(phpJson({ interfaces, time: now().getTime() / 1000 }));
    },
    "interfaces/overview/export": async () => answers.dataAsPage(phpJson(await readOverview(true))),
    "interfaces/overview/interfaces_info": async ({ request, parameters }) => {
      const rows = await readOverview(!isFalseInPhp(parameters[0]));
      return answers.data(phpJson(pageRows(rows, readPageWish(await readFields(request)))));
    },
    "interfaces/overview/get_interface": async ({ parameters }) => {
      const row = (await readOverview(true)).find(({ device }) => device === parameters[0]);
      return answers.data(phpJson({ message: row === undefined ? "failed" : detailsOf(row) }));
    },
    "routes/gateway/status": async () => {
      const [routes, { report }] = await Promise.all([readRoutes("default"), readSnapshot()]);
      return answers.data(phpJson({ items: gatewayItems(routes, report), status: "ok" }));
    },
    "core/firmware/info": async () => answers.data(phpJson(firmwareInfo(now()))),
    "core/firmware/status": async () => answers.data(phpJson(firmwareStatus(now()))),
    "core/system/status": async () => answers.data(phpJson(systemStatus())),
    "diagnostics/system/system_information": async () => answers.data(phpJson(systemInformation())),
  } satisfies Partial<Record<EndpointName, Endpoint>>;
}

const isFalseInPhp = (text = ""): boolean => text === "" || text === "0";

const events = "diagnostics/interface/events";

/**
 * A key that is revoked while it listens is revoked here too. A hundred listeners with one key are one question, for as long as
 * nothing was written to the keys.
 */
function createListenerCheck({ keys, accessVersion, now }: Pick<StatusOptions, "keys" | "accessVersion" | "now">) {
  let [askedAt, version, known] = [Number.NEGATIVE_INFINITY, "", new Map<string, boolean>()];
  return (key: string, from: string): boolean => {
    const at = now();
    const written = accessVersion();
    if (written !== version || Math.abs(at.getTime() - askedAt) > 20)
      [askedAt, version, known] = [at.getTime(), written, new Map()];
    const id = `${key} ${from}`;
    const may = known.get(id) ?? mayCall(keys.stillGood(key, { from, now: at })?.privileges ?? [], events);
    known.set(id, may);
    return may;
  };
}

/** An empty PHP array is a list. No name of an entry is a number, so a plain object keeps their order. */
const asJson = (map: ReadonlyMap<string, object>): unknown => (map.size === 0 ? [] : Object.fromEntries(map));
