import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeDevice } from "../rig/device.ts";
import { administer, runEachMoor, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { startService } from "../rig/services.ts";
import type { StartedProcess } from "../rig/started-process.ts";
import { type Block, pages, readPage } from "./pages.ts";
import { commandsOf } from "./shell.ts";

/**
 * Getting started, followed command by command in a separate network: all of the OPNsense section, and the example at
 * the beginning of each other one. `moor firewall` stands in for the OPNsense at 192.168.1.1, and `moor records` at
 * 127.0.0.9 for Hetzner.
 */
vi.setConfig({ testTimeout: 3 * testLimit });

const addresses = {
  pppoe0: { ipv4: "93.184.216.34" },
  igb0: { ipv4: "192.168.1.1", ipv6: "2a00:1450:4001:82a::1" },
  ppp0: { ipv4: "93.184.216.36" },
  eth1: { ipv4: "192.168.2.1", ipv6: "2a00:1450:4001:82b::1" },
  eth0: { ipv4: "192.168.3.20", ipv6: "2a00:1450:4001:82c::20" },
};

let inside: Namespace;
let standIns: string;

beforeAll(async () => {
  standIns = mkdtempSync(join(tmpdir(), "moor-docs-"));
  inside = await openNamespace();
  for (const [name, to] of Object.entries(addresses)) await (await makeDevice(inside, name)).readdress(to);
  const [firewall, records] = [join(standIns, "firewall"), join(standIns, "records")];
  await startService(inside, "firewall", firewall, "192.168.1.1:443");
  await startService(inside, "records", records, "127.0.0.9:443");
  await administer(["key", "add", "--data", firewall, "--privilege", "all", "--to", join(standIns, "key")]);
  await administer(["token", "add", "--new", "--data", records, "--long", "--to", join(standIns, "token")]);
  const header = `Authorization: Bearer ${readFileSync(join(standIns, "token"), "utf8").trim()}`;
  const zone = JSON.stringify({ name: "example.org", mode: "primary" });
  const json = ["-H", header, "-H", "Content-Type: application/json", "-d", zone];
  const { code, err } = await inside.run([
    ...(["curl", "-sSf", "--cacert", join(records, "ca.pem"), ...json] as const),
    "https://127.0.0.9/v1/zones",
  ]);
  if (code !== 0) throw new Error(`the zone was not created: ${err}`);
});
afterAll(() => inside.close());

/** The command as the page has it, but with another URL for Hetzner, without questions, and for one round only. */
const followed = (words: readonly string[]): readonly string[] => {
  if (words[0] === "init") return [...words, "--records", "https://127.0.0.9", "--yes"];
  return words.join(" ") === "update" ? [...words, "--once"] : words;
};

/** A config from the beginning of a page, with the stand-in for Hetzner. */
const withStandIns = (config: string): string =>
  config.replace(
    "api: hetzner",
    `api: hetzner, url: "https://127.0.0.9", ca: "${join(standIns, "records", "ca.pem")}"`,
  );

type Section = {
  readonly section: string;
  readonly blocks: number;
  /** The section begins with a config. */
  readonly hasConfig?: true;
  readonly leaves: readonly string[][];
};

/** The blocks of code below a heading of getting-started.md. */
function blocksOf(section: string): readonly Block[] {
  const page = pages.find(({ path }) => path === "docs/getting-started.md");
  const [, own = ""] = page?.text.split(`\n## ${section}\n`) ?? [];
  return readPage(section, own.split("\n## ")[0] ?? "").blocks;
}

const sections: readonly Section[] = [
  {
    section: "OPNsense and Hetzner",
    blocks: 9,
    leaves: [
      ["home", "A", "93.184.216.34"],
      ["home", "AAAA", "2a00:1450:4001:82a::1"],
    ],
  },
  {
    section: "A Linux router",
    blocks: 2,
    leaves: [
      ["home", "A", "93.184.216.36"],
      ["home", "AAAA", "2a00:1450:4001:82b::1"],
    ],
  },
  {
    section: "A Raspberry Pi or a NAS",
    blocks: 1,
    hasConfig: true,
    leaves: [["pi", "AAAA", "2a00:1450:4001:82c::20"]],
  },
];

describe("a way to get started", () => {
  it.each(sections)(
    "$section: leaves the name at its address",
    async ({ section, blocks, leaves, hasConfig = false }) => {
      const folder = mkdtempSync(join(tmpdir(), "moor-docs-"));
      await inside.run(["cp", join(standIns, "key"), join(folder, "firewall-key.txt")]);
      await inside.run(["cp", join(standIns, "token"), join(folder, "dns-token")]);
      const written = blocksOf(section);
      if (hasConfig) writeFileSync(join(folder, "moor.yaml"), withStandIns(written[0]?.text ?? ""));
      const shell = written.filter(({ language }) => language === "sh");
      const commands = shell.slice(0, blocks).flatMap(commandsOf);
      const typed = commands.filter(({ words }) => words[0] === "moor").map(({ words }) => followed(words.slice(1)));
      expect(typed.length).toBeGreaterThan(3);
      const services: StartedProcess[] = [];
      const isService = ([verb]: readonly string[]) => verb === "firewall";
      // Each of them begins with its services.
      expect(typed.findLastIndex(isService)).toBeLessThan(typed.findIndex((words) => !isService(words)));
      for (const words of typed.filter(isService)) {
        const service = startMoor(inside, words, { cwd: folder });
        services.push(service);
        await service.says(/ listens on /);
      }
      const rest = [...typed.filter((words) => !isService(words)), ["list", "example.org"]];
      const ended = await runEachMoor(inside, rest, { cwd: folder });
      for (const each of ended) expect(each).toMatchObject({ code: 0 });
      const lines = ended.at(-1)?.out.split("\n") ?? [];
      const rows = lines.map((line) => line.split(/ +/));
      for (const record of leaves) expect(rows).toContainEqual(expect.arrayContaining(record));
      for (const service of services) await service.stop();
    },
  );
});
