import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { init } from "../../src/cli/init/init.ts";
import { sourceKinds } from "../../src/updater/sources/sources.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { fakeCloudflare } from "../rig/updater/fakes/cloudflare.ts";
import { startServer, type TestServer } from "../rig/updater/services.ts";
import { sourceRigs } from "../rig/updater/sources/rigs.ts";

/** `moor init` by options, for each kind of source that asks a peer, with that peer. */
const cloudflare = fakeCloudflare("t0ken");
let server: TestServer;
beforeAll(async () => {
  server = await startServer(cloudflare.reply);
  cloudflare.fill(["home 60 A 192.0.2.1"]);
});
afterAll(() => server.close());

/** A setting of the config as an option: the path of a secret, a list in brackets. */
const given = ([key, value]: [string, unknown]): string =>
  `${key}=${typeof value === "object" ? ((value as { file?: string }).file ?? JSON.stringify(value)) : String(value as string)}`;

// Left out: a firewall has its own options, the interfaces of this machine are not under control of the test, and the
// command reads a file in its folder.
const kinds = Object.entries(sourceRigs).filter(([kind]) => !["firewall", "interface", "command"].includes(kind));

it.each(kinds)("kind %s: reads it, tries a round, and writes a config that works", async (kind, start) => {
  const folder = mkdtempSync(join(tmpdir(), "moor-init-"));
  const rig = await start(folder);
  try {
    writeFileSync(join(folder, "token"), "t0ken\n");
    await rig.say({ ipv4: ["9.9.9.9"], ipv6: ["2a00::9"] });
    const { kind: _, ...settings } = parse(rig.entry("10s")) as Record<string, unknown>;
    const { io, printed } = openTerminal(folder);
    const code = await init(
      {
        ...{
          kind,
          sourceSet: Object.entries(settings).map(given),
          config: "new/moor.yaml",
          control: "none",
          yes: true,
        },
        ...{
          api: "cloudflare",
          targetSet: [`url=${server.url}`],
          tokenFile: "token",
          zone: "example.org",
          name: "home",
        },
        ...{ ipv4: sourceKinds[kind]?.only ? "yes" : rig.device, ipv6: "none" },
      },
      io,
    );
    expect([code, printed.err]).toEqual([0, ""]);
    expect(printed.out).toContain("would be replaced by 9.9.9.9");
    const written = parse(readFileSync(join(folder, "new", "moor.yaml"), "utf8")) as { sources: object };
    expect(Object.keys(written.sources)).toEqual([kind]);
    const secret = rig.secret ?? "t0ken";
    expect(printed.out + readFileSync(join(folder, "new", "moor.yaml"), "utf8")).not.toContain(secret);
  } finally {
    await rig.close();
    rmSync(folder, { recursive: true });
  }
});
