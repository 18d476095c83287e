import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/process/log.ts";
import { keepNames } from "../../src/updater/keep-names.ts";
import { readConfig } from "../../src/updater/read-config.ts";
import { openStateFile } from "../../src/updater/round/state-file.ts";
import { builtPages } from "../rig/bundle.ts";
import { freePort } from "../rig/free-port.ts";
import { until } from "../rig/until.ts";

export type UpdaterRig = {
  readonly url: string;
  /** What it has stored, as text. */
  readonly state: () => Promise<string>;
  /** Prepends these lines to the config file, which is then reloaded. */
  readonly configure: (lines: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type UpdaterWish = {
  readonly firewall: { readonly url: string; readonly ca: string; readonly key: string; readonly secret: string };
  readonly records: { readonly url: string; readonly ca: string; readonly token: string };
  readonly name: string;
  readonly zone: string;
  /** If given, the page is served over HTTPS, and names can be changed after signing in with it. */
  readonly password?: string;
};

/** The updater with a separate config file, watching. */
export async function startUpdaterRig({ firewall, records, name, zone, password }: UpdaterWish): Promise<UpdaterRig> {
  const folder = await mkdtemp(join(tmpdir(), "moor-updater-page-"));
  const file = (path: string) => join(folder, path);
  const port = await freePort();
  const secret = { mode: 0o600 };
  await copyFile(firewall.ca, file("firewall.pem"));
  await copyFile(records.ca, file("records.pem"));
  await writeFile(file("key.txt"), `key=${firewall.key}\nsecret=${firewall.secret}\n`, secret);
  await writeFile(file("dns-token"), `${records.token}\n`, secret);
  await writeFile(file("control-token"), "told-to-nobody\n", secret);
  if (password !== undefined) await writeFile(file("page-password"), `${password}\n`, secret);
  const signIn = password === undefined ? "" : ", password: { file: page-password }";
  const settings = `interval: 2m
sources:
  home: { url: "${firewall.url}", keyFile: key.txt, ca: firewall.pem }
targets:
  dns: { url: "${records.url}", token: { file: dns-token }, ca: records.pem }
names:
  - { name: ${name}, zone: ${zone}, ipv4: ppp0 }
control: { listen: "127.0.0.1:${port}", token: { file: control-token }${signIn} }
`;
  await writeFile(file("moor.yaml"), settings);
  const reload = (instead?: string) => readConfig(file("moor.yaml"), {}, folder, instead);
  const config = reload();
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const opened = await openStateFile(config.value.stateFile, Date.now(), { write: true });
  if (opened.kind === "unusable") throw new Error(opened.because);
  const stopping = new AbortController();
  const log = createLog({ format: "json", write: () => undefined });
  const tools = { state: opened.state, log, now: Date.now, random: Math.random, host: "test", env: {}, reload };
  const done = keepNames(config.value, { ...tools, pages: builtPages() }, stopping.signal);
  const url = `${password === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  await until(() => accepts(port), { what: () => "the updater to answer" });
  return {
    url,
    state: () => readFile(config.value.stateFile, "utf8").catch(() => ""),
    configure: async (lines) => {
      await writeFile(file("moor.yaml.new"), `${lines}\n${settings}`);
      await rename(file("moor.yaml.new"), file("moor.yaml"));
    },
    close: async () => {
      stopping.abort();
      await done;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
