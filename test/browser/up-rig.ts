import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type Device, makeDevice } from "../rig/device.ts";
import { prepareWithMoor, runMoor, startMoor } from "../rig/moor.ts";
import { openNamespace } from "../rig/namespace.ts";
import { launchBrowser, thrifty } from "./browser.ts";
import { type OpenBrowser, reuseContexts } from "./reused-contexts.ts";

export type UpRig = {
  readonly data: string;
  /** The interface that the updater follows. */
  readonly wan: Device;
  readonly browser: OpenBrowser;
  readonly urls: { readonly records: string; readonly firewall: string };
  /** From `moor sign-in`. */
  readonly signInLink: (...words: readonly string[]) => Promise<string>;
  readonly moor: (...words: readonly string[]) => Promise<string>;
  /** How each service answers a client that has signed in with such a link, when it asks who it is there. */
  readonly sessionsOf: (
    ...words: readonly string[]
  ) => Promise<{ readonly records: number; readonly firewall: number }>;
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
  const browser = await launchBrowser({ program, args: thrifty });
  const urls = { records: "https://127.0.0.1:8053", firewall: "https://127.0.0.1:8443" };
  const signInLink: UpRig["signInLink"] = async (...words) =>
    (await prepareWithMoor(inside, ["sign-in", "--data", data, ...words])).out.trim();
  const cookies = join(folder, "cookies");
  const statusOf = async (...words: readonly string[]) =>
    Number((await inside.run(["curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}", ...words])).out);
  return {
    ...{ data, wan, browser: reuseContexts(browser), urls, signInLink },
    sessionsOf: async (...words) => {
      const { origin, hash } = new URL(await signInLink(...words));
      const link = ["-H", `origin: ${origin}`, "--json", JSON.stringify({ link: hash.slice(1) })];
      expect(await statusOf("-c", cookies, ...link, `${origin}/console/sign-in-link`)).toBe(204);
      const at = (url: string) => statusOf("-b", cookies, `${url}/console/session`);
      return { records: await at(urls.records), firewall: await at(urls.firewall) };
    },
    moor: async (...words) => (await runMoor(inside, words)).out,
    close: async () => {
      await browser.close();
      await inside.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
