import { afterEach, expect, it } from "vitest";
import type { KernelRow } from "../../src/lib/kernel/row.ts";
import { until } from "../rig/until.ts";
import { openRig, type Rig } from "./rig.ts";

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

const device = (ifname: string, local: string): KernelRow =>
  ({
    ...{ ifname, ifindex: 2, flags: ["UP", "LOWER_UP"], mtu: 1500, link_type: "ether", operstate: "UP" },
    ...{ address: "02:00:00:00:00:01", addr_info: [{ family: "inet", local, prefixlen: 24, scope: "global" }] },
  }) as unknown as KernelRow;

it("reports a gateway that does not answer as down, and another one as up", async () => {
  let probes = 0;
  const route = { family: "inet", destination: "default", flags: [] } as const;
  rig = await openRig({
    probesGateways: true,
    read: async () => [device("wan0", "192.0.2.7"), device("wan1", "198.51.100.7")],
    readRoutes: async () => [
      { ...route, dev: "wan0", gateway: "192.0.2.1" },
      { ...route, dev: "wan1", gateway: "198.51.100.1" },
    ],
    ping: async ({ dev }) => {
      probes += 1;
      return dev === "wan1";
    },
  });
  const key = rig.key("updater", ["gateways"]);
  // Three lost packets of one gateway; the fourth round begins after the third has ended.
  await until(() => probes >= 7);
  const { body } = await rig.ask("/api/routes/gateway/status", { key });
  expect((JSON.parse(body) as { items: object[] }).items).toMatchObject([
    { name: "WAN0_GW", address: "192.0.2.1", status: "down", monitor: "192.0.2.1", loss: "100.0 %" },
    { name: "WAN1_GW", address: "198.51.100.1", status: "none", monitor: "198.51.100.1" },
  ]);
});

it("says once that the gateways cannot be probed, and reports their links", async () => {
  rig = await openRig({
    probesGateways: true,
    read: async () => [device("wan0", "192.0.2.7")],
    readRoutes: async () => [{ family: "inet", destination: "default", flags: [], dev: "wan0", gateway: "192.0.2.1" }],
    ping: async () => {
      throw new Error("the program ping cannot be started (ENOENT)");
    },
  });
  const { logged } = rig;
  const said = () => logged.filter((line) => line.includes("could not be probed"));
  await until(() => said().length === 1);
  const { body } = await rig.ask("/api/routes/gateway/status", { key: rig.key("updater", ["gateways"]) });
  expect((JSON.parse(body) as { items: object[] }).items).toMatchObject([{ status: "none", monitor: "~" }]);
  expect(said()).toHaveLength(1);
});
