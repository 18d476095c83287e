import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Device, makeDevice } from "../rig/device.ts";
import { prepareWithMoor, runMoor, startMoor } from "../rig/moor.ts";
import { openNamespace } from "../rig/namespace.ts";
import { launchBrowser } from "./browser.ts";
import { type OpenBrowser, reuseContexts } from "./reused-contexts.ts";

export type UpRig = {
  readonly data: string;
  /** The interface that the updater follows. */
  readonly wan: Device;
  readonly browser: OpenBrowser;
  readonly urls: { readonly records: string; readonly firewall: string; readonly updater: string };
  /** From `moor sign-in`. */
  readonly signInLink: (...words: readonly string[]) => Promise<string>;
  readonly moor: (...words: readonly string[]) => Promise<string>;
  readonly close: () => Promise<void>;
};

/**
 * `moor up` as users run it, and a browser on the same machine: a network namespace with an interface whose address can
 * change.
 */
export async function startUpRig(): Promise<UpRig> {
  const folder = await mkdtemp(join(tmpdir(), "moor-up-pages-"));
  const data = join(folder, "data");
  const inside = await openNamespace();
  // Chromium drops what it is loading when an address appears, even one whose duplicate address detection ends late.
  const { code, err } = await inside.run(["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad"]);
  if (code !== 0) throw new Error(`duplicate address detection cannot be switched off: ${err}`);
  const wan = await makeDevice(inside, "wan0");
  await wan.readdress({ ipv4: "9.9.1.1", ipv6: "2a00:1::1" });
  const up = startMoor(inside, ["up", "--data", data]);
  await up.says(/Ctrl-C stops it/);
  const program = join(folder, "browser");
  await writeFile(program, `#!/bin/sh\nexec ${inside.entering("/").join(" ")} /usr/bin/chromium-headless-shell "$@"\n`);
  await chmod(program, 0o700);
  const browser = await launchBrowser({ program, args: ["--process-per-site"] });
  return {
    ...{ data, wan, browser: reuseContexts(browser) },
    urls: { records: "https://127.0.0.1:8053", firewall: "https://127.0.0.1:8443", updater: updaterUrl(up.out()) },
    signInLink: async (...words) => (await prepareWithMoor(inside, ["sign-in", "--data", data, ...words])).out.trim(),
    moor: async (...words) => (await runMoor(inside, words)).out,
    close: async () => {
      await browser.close();
      await inside.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const updaterUrl = (said: string): string => /https?:\/\/127\.0\.0\.1:9053/.exec(said)?.[0] ?? "";
