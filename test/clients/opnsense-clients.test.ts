import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewApiKey } from "../../src/firewall/access/keys.ts";
import type { KernelRow } from "../../src/lib/kernel/row.ts";
import { openRig, type Rig } from "../firewall/rig.ts";

/**
 * What released clients of the original read apart from the interface report: a wrong type or a missing key makes them
 * fail.
 */
describe("clients of the firewall service", () => {
  let rig: Rig;
  let key: NewApiKey;
  const card: KernelRow = {
    ...{ ifindex: 2, ifname: "eth0", flags: ["UP", "LOWER_UP"], mtu: 1500, txqlen: 1000, link_type: "ether" },
    addr_info: [{ family: "inet", local: "192.0.2.1", prefixlen: 24 }],
    address: "02:00:5e:10:00:01",
    stats64: { rx: { bytes: 12, packets: 3 }, tx: { bytes: 7, packets: 1 } },
  };
  const read = async (path: string): Promise<unknown> => JSON.parse((await rig.ask(path, { key })).body);

  beforeAll(async () => {
    rig = await openRig({ read: async () => [card] });
    key = rig.key("monitoring", ["all"]);
  });
  afterAll(() => rig.close());

  it("aiopnsense (Home Assistant) identifies the machine by a network card with a MAC address", async () => {
    expect(await read("/api/interfaces/overview/export")).toEqual([
      expect.objectContaining({ is_physical: true, macaddr_hw: "02:00:5e:10:00:01", identifier: "eth0", status: "up" }),
    ]);
  });

  it("aiopnsense finds one that stays the same on a machine with virtual cards only", async () => {
    const ids = ["02:00:5e:10:00:02", "02:00:5e:10:00:03"].map(async (address) => {
      const virtual = await openRig({ read: async () => [{ ...card, address, linkinfo: { info_kind: "macvlan" } }] });
      const { body } = await virtual.ask("/api/interfaces/overview/export", { key: virtual.key("home", ["overview"]) });
      await virtual.close();
      expect(JSON.parse(body)).toEqual([expect.objectContaining({ is_physical: true, macaddr: address })]);
      return JSON.parse(body)[0].macaddr_hw;
    });
    const [before, after] = await Promise.all(ids);
    expect(after).toBe(before);
    expect(before).toMatch(/^[0-9a-f][26ae](?::[0-9a-f]{2}){5}$/);
  });

  it("aiopnsense reads the counters from the export, as strings", async () => {
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

  it("exporters and scripts request the system status first, and read its new key or the old one", async () => {
    expect(await read("/api/core/system/status")).toMatchObject({
      metadata: { system: { status: "OK" } },
      System: { status: "OK" },
    });
  });

  /** Otherwise aiopnsense requests an update check in every round, and logs an error about it. */
  it("aiopnsense finds that the firmware was checked today and is up to date", async () => {
    const status = (await read("/api/core/firmware/status")) as {
      readonly product: Readonly<Record<string, unknown>>;
      readonly last_check: string;
    };
    expect(status).toMatchObject({ status: "none", needs_reboot: "0" });
    expect(status.product.product_latest).toBe(status.product.product_version);
    expect(status.product.product_check).toMatchObject({ last_check: status.last_check, upgrade_needs_reboot: "0" });
    expect(status.last_check).toMatch(/^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/);
    expect(Math.abs(Date.parse(status.last_check) - Date.now())).toBeLessThan(60_000);
  });

  it("opnsense-exporter reads the version from the top level of the firmware status, which is the check itself", async () => {
    const status = (await read("/api/core/firmware/status")) as {
      readonly product: { readonly product_check: Readonly<Record<string, unknown>> };
    };
    const { product } = status;
    const { product_check, ...known } = product;
    expect(status).toMatchObject(product_check);
    expect(product_check).toMatchObject({ os_version: expect.stringMatching(/^Linux \d/), upgrade_packages: [] });
    for (const key of ["product_id", "product_version", "product_abi"]) {
      expect(known).toHaveProperty(key, product_check[key] ?? "missing");
    }
  });

  it("ioBroker tests the connection with the firmware info; others read plugins and the version there", async () => {
    const { product } = (await read("/api/core/firmware/status")) as { product: { product_version: string } };
    const { product_version } = product;
    expect(await read("/api/core/firmware/info")).toEqual({
      ...{ product_id: "moor", product_version, package: [], plugin: [], changelog: [], product: expect.anything() },
    });
  });

  it("pyopnsense reads the interfaces from Network Insight: a device and its name", async () => {
    expect(await read("/api/diagnostics/networkinsight/getinterfaces")).toEqual({ eth0: "eth0" });
  });

  it("scripts request one device and read its first address from the cell", async () => {
    const { message } = (await read("/api/interfaces/overview/getInterface/eth0")) as { message: object };
    expect(message).toMatchObject({
      ...{ device: { value: "eth0", translation: "Device" }, macaddr: { translation: "MAC Address" } },
      ipv4: { value: [{ ipaddr: "192.0.2.1/24" }], translation: "IPv4 Addresses" },
      ...{ "bytes received": { value: "12", translation: "Bytes Received" }, mtu: { value: "1500" } },
      flags: { value: ["up", "running", "lower_up"] },
    });
    expect(message).not.toHaveProperty("statistics");
  });

  it.each(["/nobody", "", "/wan"])("a missing device (%s) is `failed`, with 200", async (rest) => {
    expect(await read(`/api/interfaces/overview/get_interface${rest}`)).toEqual({ message: "failed" });
  });

  it("opnsense-exporter reads every traffic counter as a string that holds a number", async () => {
    const { interfaces, time } = (await read("/api/diagnostics/traffic/interface")) as {
      readonly interfaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
      readonly time: number;
    };
    expect(Object.keys(interfaces)).toEqual(["eth0"]);
    expect(interfaces.eth0).toMatchObject({ device: "eth0", name: "ETH0", "link state": "2", "bytes received": "12" });
    const counters = ["bytes", "packets", "multicasts"].flatMap((what) => [`${what} received`, `${what} transmitted`]);
    for (const name of [...counters, "mtu", "input errors", "output errors", "collisions"]) {
      expect([name, interfaces.eth0?.[name]]).toEqual([name, expect.stringMatching(/^\d+$/)]);
    }
    expect(time).toBeGreaterThan(1_700_000_000);
  });

  it("Homarr and python-opnsense require every traffic key of the original, as a string", async () => {
    const { interfaces } = (await read("/api/diagnostics/traffic/Interface")) as { interfaces: Record<string, object> };
    expect(interfaces.eth0).toEqual({
      ...{ device: "eth0", driver: "eth0", index: "2", name: "ETH0", type: "Ethernet" },
      ...{ flags: "41", "promiscuous listeners": "0" },
      ...{ "send queue length": "0", "send queue max length": "1000", "send queue drops": "0" },
      ...{ "address length": "6", "header length": "14", "link state": "2", vhid: "0", datalen: "152" },
      ...{ mtu: "1500", metric: "0", "line rate": "0 bit/s" },
      ...{ "packets received": "3", "input errors": "0", "packets transmitted": "1", "output errors": "0" },
      ...{ collisions: "0", "bytes received": "12", "bytes transmitted": "7" },
      ...{ "multicasts received": "0", "multicasts transmitted": "0", "input queue drops": "0" },
      ...{ "packets for unknown protocol": "0", "HW offload capabilities": "0x0" },
      "uptime at attach or stat reset": "0",
    });
  });
});
