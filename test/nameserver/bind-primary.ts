import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../rig/free-port.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { serialOver } from "./ask-over-udp.ts";
import { run } from "./moor-dns.ts";

/** A real BIND with a zone that nsupdate can change; it notifies moor of changes. */
export type BindPrimary = {
  readonly port: number;
  readonly nsupdate: (lines: string) => Promise<string>;
  readonly serial: () => Promise<number>;
  /** Its output since it was started. */
  readonly said: () => string;
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type BindOptions = {
  readonly zone: string;
  readonly text: string;
  readonly key: { readonly name: string; readonly algorithm: string; readonly secret: string };
  readonly notify?: number;
  /** Lets everyone transfer the zone. */
  readonly anyTransfer?: boolean;
};

export async function startBindPrimary(options: BindOptions): Promise<BindPrimary> {
  const { zone, text, key, notify } = options;
  const folder = await mkdtemp(join(tmpdir(), "moor-primary-"));
  const port = await freePort();
  await writeFile(join(folder, "zone"), text);
  await writeFile(
    join(folder, "named.conf"),
    `key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
options {
  directory "${folder}"; pid-file none; session-keyfile none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify ${notify === undefined ? "no" : "explicit"}; notify-delay 0; serial-query-rate 1000;
};
controls { };
zone "${zone}" {
  type primary; file "zone"; ixfr-from-differences yes;
  allow-transfer { ${options.anyTransfer ? "any" : `key "${key.name}"`}; }; allow-update { 127.0.0.1; };
  ${notify === undefined ? "" : `also-notify { 127.0.0.1 port ${notify} key "${key.name}"; };`}
};
`,
  );
  const serial = async () => (await serialOver(port, zone)) ?? 0;
  let process: ReturnType<typeof startProcess> | undefined;
  const start = async () => {
    process = startProcess(["/usr/sbin/named", "-g", "-n", "1", "-c", join(folder, "named.conf")], {});
    const said = process.err;
    await until(async () => (await serial()) > 0, { what: () => `BIND to start: ${said()}` });
  };
  const stop = async (signal?: NodeJS.Signals) => {
    await process?.stop(signal);
    process = undefined;
  };
  const close = async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
  await start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    port,
    serial,
    said: () => process?.err() ?? "",
    start,
    stop,
    nsupdate: (lines) => run("nsupdate", [], `server 127.0.0.1 ${port}\nzone ${zone}\n${lines}\nsend\n`),
    close,
  };
}
