import type { EndpointName } from "../access/privileges.ts";
import type { FirewallConfig } from "../config.ts";
import type { activityOf } from "../report/activity.ts";
import { gatewayRows } from "../report/gateways.ts";
import { arpRows, type Neighbour } from "../report/neighbours.ts";
import { phpJson } from "../report/php-json.ts";
import { type Route, routeRows } from "../report/routes.ts";
import type { Snapshot } from "../report/snapshot.ts";
import * as answers from "./answers.ts";
import type { Call, Endpoint } from "./call.ts";
import { pageRows, readPageWish } from "./page-rows.ts";
import { readFields } from "./read-fields.ts";

/** Each rejects when the kernel could not be read. */
export type DiagnosticsOptions = {
  readonly config: FirewallConfig;
  readonly readSnapshot: () => Promise<Snapshot>;
  readonly readRoutes: (which: "default" | "all") => Promise<readonly Route[]>;
  readonly readArp: () => Promise<readonly Neighbour[]>;
  readonly readActivity: () => Promise<ReturnType<typeof activityOf>>;
};

/** What dashboards and exporters show of the machine beside its interfaces. */
export function diagnosticsEndpoints(options: DiagnosticsOptions) {
  const { config, readSnapshot, readRoutes, readArp, readActivity } = options;
  const arp = async () => {
    const [neighbours, snapshot] = await Promise.all([readArp(), readSnapshot()]);
    return arpRows(neighbours, snapshot, config);
  };
  return {
    "diagnostics/activity/get_activity": async () => answers.data(phpJson(await readActivity())),
    "diagnostics/interface/get_arp": async () => answers.data(phpJson(await arp())),
    "diagnostics/interface/search_arp": async (call) => answers.data(await page(call, await arp())),
    "diagnostics/interface/get_routes": async () => {
      const [routes, snapshot] = await Promise.all([readRoutes("all"), readSnapshot()]);
      return answers.data(phpJson(routeRows(routes, snapshot, config)));
    },
    "routing/settings/search_gateway": async (call) => {
      const [routes, { report }] = await Promise.all([readRoutes("default"), readSnapshot()]);
      return answers.data(await page(call, gatewayRows(routes, report, config)));
    },
  } satisfies Partial<Record<EndpointName, Endpoint>>;
}

const page = async ({ request }: Call, rows: readonly Readonly<Record<string, unknown>>[]): Promise<string> =>
  phpJson(pageRows(rows, readPageWish(await readFields(request))));
