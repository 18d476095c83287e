import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { KernelRow } from "../../lib/kernel/row.ts";
import { reportMedia, reportNd6 } from "../report/report.ts";
import { type DetailFolders, withDetails } from "./read-details.ts";

const card: KernelRow = {
  ifindex: 2,
  ifname: "eth0",
  flags: ["UP", "LOWER_UP"],
  link_type: "ether",
  address: "02:00:5e:10:00:01",
  addr_info: [],
};
const cardFiles = { ifindex: "2", address: "02:00:5e:10:00:01", speed: "1000", duplex: "full" };
const settings = { disable_ipv6: 0, accept_ra: 1, forwarding: 0, addr_gen_mode: 0, accept_dad: 1 };

let folders: DetailFolders;
beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), "moor-details-"));
  folders = { devices: join(base, "devices"), ipv6: join(base, "ipv6") };
});

async function write(folder: string, files: Readonly<Record<string, string | number>>): Promise<void> {
  await mkdir(join(folder, "eth0"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, "eth0", name), `${text}\n`);
}

describe("withDetails", () => {
  it.each<[string, Readonly<Record<string, string>>, object]>([
    ["a linked card", cardFiles, { speed: 1000, duplex: "full" }],
    ["a card without a link", { ...cardFiles, speed: "-1", duplex: "unknown" }, {}],
    ["another namespace's card of that name", { ...cardFiles, ifindex: "7" }, {}],
    ["another card with that index", { ...cardFiles, address: "02:00:5e:10:00:02" }, {}],
    ["nothing", {}, {}],
  ])("%s", async (_, files, details) => {
    await write(folders.devices, files);
    expect((await withDetails([card], folders))[0]?.details).toEqual(details);
  });

  it("reads the speed only of cards", async () => {
    await write(folders.devices, cardFiles);
    const veth = { ...card, linkinfo: { info_kind: "veth" } };
    expect((await withDetails([veth], folders))[0]?.details).toEqual({});
  });

  it("reads the IPv6 settings, all of them or none", async () => {
    await write(folders.ipv6, settings);
    expect((await withDetails([card], folders))[0]?.details).toEqual({ ipv6: settings });
    const { accept_dad: _, ...some } = settings;
    await write(join(folders.ipv6, "other"), some);
    const incomplete = { devices: folders.devices, ipv6: join(folders.ipv6, "other") };
    expect((await withDetails([card], incomplete))[0]?.details).toEqual({});
  });
});

describe("reportMedia", () => {
  it.each<[string, Partial<KernelRow>, object]>([
    ["known", { details: { speed: 1000, duplex: "full" } }, { media: "1000Mb/s <full-duplex>" }],
    ["speed alone", { details: { speed: 2500 } }, { media: "2500Mb/s", media_raw: "Ethernet autoselect (2500Mb/s)" }],
    ["no link", { details: { speed: 1000 }, flags: ["UP", "NO-CARRIER"] }, {}],
    ["unknown", {}, {}],
  ])("%s", (_, more, expected) => {
    expect(reportMedia({ ...card, ...more })).toMatchObject(expected);
    if (Object.keys(expected).length === 0) expect(reportMedia({ ...card, ...more })).toEqual({});
  });
});

describe("reportNd6", () => {
  it.each<[string, Partial<typeof settings>, readonly string[], readonly string[]]>([
    ["a host", {}, ["UP"], ["performnud", "accept_rtadv", "auto_linklocal"]],
    ["a router", { forwarding: 1 }, ["UP"], ["performnud", "auto_linklocal"]],
    [
      "a router that accepts advertisements",
      { forwarding: 1, accept_ra: 2 },
      ["UP"],
      ["performnud", "accept_rtadv", "auto_linklocal"],
    ],
    ["a host without IPv6", { disable_ipv6: 1, accept_ra: 0 }, ["UP"], ["performnud", "ifdisabled", "auto_linklocal"]],
    ["no automatic link-local address", { addr_gen_mode: 1, accept_ra: 0 }, ["UP"], ["performnud"]],
    ["no check for duplicates", { accept_dad: 0, accept_ra: 0 }, ["UP"], ["performnud", "auto_linklocal", "no_dad"]],
    ["WireGuard", { accept_ra: 0, addr_gen_mode: 1 }, ["UP", "NOARP"], ["no_dad"]],
  ])("%s", (_, more, flags, words) => {
    expect(reportNd6({ ...card, flags, details: { ipv6: { ...settings, ...more } } })).toEqual({
      nd6: { flags: words },
    });
  });

  it("reports nothing if nothing is known", () => {
    expect(reportNd6(card)).toEqual({});
  });
});
