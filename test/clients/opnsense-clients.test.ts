import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KernelRow } from "../../src/firewall/kernel-row.ts";
import type { NewApiKey } from "../../src/firewall/keys.ts";
import { openRig, type Rig } from "../firewall/rig.ts";

/** What released clients of the original read beside the interface report: a wrong type or a missing key ends them. */
describe("clients of the firewall service", () => {
  let rig: Rig;
  let key: NewApiKey;
  const card: KernelRow = {
    ...{ ifindex: 2, ifname: "eth0", flags: ["UP", "LOWER_UP"], mtu: 1500, link_type: "ether", addr_info: [] },
    address: "02:00:5e:10:00:01",
    stats64: { rx: { bytes: 12, packets: 3 }, tx: { bytes: 7, packets: 1 } },
  };
  const read = async (path: string): Promise<unknown> => JSON.parse((await rig.ask(path, { key })).body);

  beforeAll(async () => {
    rig = await openRig({ read: async () => [card] });
    key = rig.key("monitoring", ["all"]);
  });
  afterAll(() => rig.close());

  it("aiopnsense (Home Assistant) knows the machine by a card with a hardware address", async () => {
    expect(await read("/api/interfaces/overview/export")).toEqual([
      expect.objectContaining({ is_physical: true, macaddr_hw: "02:00:5e:10:00:01", identifier: "eth0", status: "up" }),
    ]);
  });

  it("aiopnsense takes the counters from the export, as texts", async () => {
    const statistics = expect.objectContaining({ "bytes received": "12", "packets transmitted": "1" });
    expect(await read("/api/interfaces/overview/export")).toEqual([expect.objectContaining({ statistics })]);
  });

  it.each([
    ["/1", true],
    ["/true", true],
    ["", false],
    ["/0", false],
  ])("interfaces_info%s: with counters %s", async (rest, counted) => {
    const { rows } = (await read(`/api/interfaces/overview/interfaces_info${rest}`)) as { rows: readonly object[] };
    expect(rows.map((row) => "statistics" in row)).toEqual([counted]);
  });

  it("exporters and scripts ask for the system's status first, in the new words or the old", async () => {
    expect(await read("/api/core/system/status")).toMatchObject({
      metadata: { system: { status: "OK" } },
      System: { status: "OK" },
    });
  });
});
