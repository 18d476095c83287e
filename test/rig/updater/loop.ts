import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UpdaterConfig } from "../../../src/updater/config/config.ts";
import { readConfig } from "../../../src/updater/read-config.ts";
import { summarise } from "../../../src/updater/report/describe-round.ts";
import { openStateFile } from "../../../src/updater/round/state-file.ts";
import { openUpdater, type Updater } from "../../../src/updater/updater.ts";
import { storedIn } from "../updater-home.ts";
import type { TestCertificate } from "./certificates.ts";
import {
  type Asked,
  type Reply,
  recordService,
  setService,
  startServer,
  type TestRecord,
  type TestServer,
  wanWith,
} from "./services.ts";

/** A firewall, a record service and an updater between them: real servers with scripted answers. */
export type Loop = {
  readonly firewall: TestServer;
  readonly service: TestServer;
  readonly records: TestRecord[];
  readonly config: UpdaterConfig;
  readonly updater: Updater;
  /** The answers of the two; tests change them while the updater runs. */
  readonly says: Says;
  /** The time as the updater sees it. */
  readonly clock: { now: number };
  readonly folder: string;
  writes(): readonly Asked[];
  stored(): Readonly<Record<string, string>>;
  round(): Promise<readonly string[]>;
  reopen(): Promise<void>;
  close(): Promise<void>;
};

type Says = {
  firewall: (asked: Asked) => Reply | Promise<Reply>;
  service: (asked: Asked) => Reply | undefined;
  /** Delays the answers of the service. */
  held?: (asked: Asked) => Promise<void>;
};

export const goodFirewall = (): Reply => ({ body: { wan0: wanWith(["9.9.9.9"], ["2a00::9", "fe80::1"]) } });

export const firstRecords = (): TestRecord[] => [
  { id: "soa", type: "SOA", name: "@", value: "ns. host. 1 2 3 4 5", zone_id: "z1" },
  { id: "r4", type: "A", name: "home", value: "192.0.2.1", ttl: 77, zone_id: "z1" },
  { id: "r6", type: "AAAA", name: "home", value: "2001:db8::1", zone_id: "z1" },
];

const oneName = "  - { name: home, zone: example.org, ipv4: wan0, ipv6: wan0 }";

export type LoopSettings = {
  readonly api?: "v1" | "rrsets";
  /** Lines of the config besides sources, targets and names. */
  readonly settings?: string;
  /** Settings of the source and the target besides their URL and secrets. */
  readonly source?: string;
  readonly target?: string;
  /** Starts the peer of another kind of source, and returns the entry in `sources:` instead of the firewall's. */
  readonly entry?: (folder: string) => Promise<string>;
  /** The firewall is a second source, `spare`. */
  readonly spare?: true;
  readonly firewallTls?: TestCertificate;
  readonly serviceTls?: TestCertificate;
  /** Writes more files before the config is read. */
  readonly before?: (folder: string) => void;
};

/** Without `random` there is no back-off. */
export async function openLoop(names = oneName, random = () => 0, more: LoopSettings = {}): Promise<Loop> {
  const folder = mkdtempSync(join(tmpdir(), "moor-loop-"));
  const says: Says = { firewall: goodFirewall, service: () => undefined };
  const records = firstRecords();
  const { api = "v1", settings = "" } = more;
  const serve = api === "v1" ? recordService : setService;
  const firewall = await startServer((asked) => says.firewall(asked), more.firewallTls);
  const answer = serve(records, (question) => says.service(question));
  const service = await startServer(async (asked) => {
    await says.held?.(asked);
    return answer(asked);
  }, more.serviceTls);
  writeFileSync(join(folder, "k"), "key=thekey\nsecret=thesecret\n", { mode: 0o600 });
  writeFileSync(join(folder, "t"), "t0ken\n", { mode: 0o600 });
  more.before?.(folder);
  const source = more.source === undefined ? "" : `, ${more.source}`;
  const target = more.target === undefined ? "" : `, ${more.target}`;
  const own = `{ url: "${firewall.url}", keyFile: k${source} }`;
  const entry = (await more.entry?.(folder)) ?? own;
  const text = `sources: { home: ${entry}${more.spare ? `, spare: ${own}` : ""} }
targets: { dns: { url: "${service.url}", api: ${api}, token: { file: t }${target} } }
${settings}
names:
${names}
`;
  writeFileSync(join(folder, "moor.yaml"), text);
  const read = readConfig("moor.yaml", {}, folder);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  const config = read.value;
  const clock = { now: Date.now() };
  const open = async () => {
    const opened = await openStateFile(config.stateFile, clock.now, { write: true });
    if (opened.kind !== "open") throw new Error(opened.because);
    return openUpdater(config, { state: opened.state, now: () => clock.now, random });
  };
  let updater = await open();
  return {
    ...{ firewall, service, records, config, says, clock, folder },
    get updater() {
      return updater;
    },
    writes: () => service.asked.filter(({ method }) => method !== "GET"),
    stored: () => storedIn(config.stateFile),
    async round() {
      const { results } = await updater.round(new AbortController().signal);
      return results.map((result) => summarise(result, true).kind);
    },
    async reopen() {
      updater.close();
      updater = await open();
    },
    async close() {
      updater.close();
      await Promise.all([firewall.close(), service.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}
