import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/updater/read-config.ts";
import { openStateFile } from "../../src/updater/round/state-file.ts";
import { openUpdater, type Updater } from "../../src/updater/updater.ts";
import { isLongRun } from "../rig/long-run.ts";
import { realPause } from "../rig/real-pause.ts";
import { recordService, startServer, type TestRecord, type TestServer, wanWith } from "../rig/updater/services.ts";

/** Two updaters with separate state files, and one shared record. */
let folder: string;
let service: TestServer;
let records: TestRecord[];
let firewalls: readonly TestServer[];
let reports: unknown[];
let nodes: Node[];
/** Milliseconds by which a write may be late; its address may be outdated by then. */
let lateness: number;

type Node = { updater: Updater; restart(): Promise<void> };
const changes = isLongRun ? 200 : 25;
const never = new AbortController().signal;

/** The same numbers in every run, so that a failure can be reproduced. */
function createDice(seed: number) {
  let state = seed;
  return (sides: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % sides;
  };
}
const dice = createDice(7);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-two-nodes-"));
  records = [{ id: "r4", type: "A", name: "home", value: "192.0.2.1", zone_id: "z1" }];
  lateness = 4;
  const answer = recordService(records);
  service = await startServer(async (asked) => {
    if (asked.method === "PUT") await realPause(dice(lateness), "answers come at random moments");
    return answer(asked);
  });
  reports = [{}, {}];
  firewalls = await Promise.all([0, 1].map((n) => startServer(() => ({ body: reports[n] }))));
  nodes = [];
});
afterEach(async () => {
  for (const { updater } of nodes) updater.close();
  await Promise.all([service, ...firewalls].map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

async function openNode(name: string, firewall: TestServer | undefined, rules: string): Promise<void> {
  const path = (file: string) => join(folder, `${name}-${file}`);
  writeFileSync(path("k"), "key=k\nsecret=s\n", { mode: 0o600 });
  writeFileSync(path("t"), "t0ken\n", { mode: 0o600 });
  writeFileSync(
    path("moor.yaml"),
    `sources: { home: { url: "${firewall?.url}", keyFile: ${name}-k } }
targets: { dns: { url: "${service.url}", token: { file: ${name}-t } } }
compare: record
${rules}
names: [{ name: home, zone: example.org, ipv4: wan0 }]
`,
  );
  const config = readConfig(path("moor.yaml"), {}, folder);
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const open = async () => {
    const opened = await openStateFile(config.value.stateFile, Date.now(), { write: true });
    if (opened.kind !== "open") throw new Error(opened.because);
    return openUpdater(config.value, { state: opened.state, now: Date.now, random: () => 0 });
  };
  const node: Node = {
    updater: await open(),
    async restart() {
      node.updater.close();
      node.updater = await open();
    },
  };
  nodes.push(node);
}

const published = () => records[0]?.value;

/** Whatever the nodes are doing, and whichever is restarted or away: afterwards each checks once. */
async function disturb(change: () => void): Promise<void> {
  const busy = nodes.filter(() => dice(3) > 0).map(({ updater }) => updater.round(never));
  await realPause(dice(4), "a random moment");
  change();
  const more = nodes.filter(() => dice(2) > 0).map(({ updater }) => updater.round(never));
  await Promise.all([...busy, ...more]);
  if (dice(10) === 0) await nodes[dice(nodes.length)]?.restart();
}

describe(`two nodes on one record, ${changes} changes`, () => {
  it("behind one firewall: no outdated address remains, whichever of the two keeps running", async () => {
    await openNode("a", firewalls[0], "");
    await openNode("b", firewalls[0], "");
    for (let n = 1; n <= changes; n++) {
      // Every third change goes back to an address that one of them may have stored as its last write.
      const address = n % 3 === 0 ? "9.9.0.1" : `9.9.${n >> 8}.${(n & 0xff) + 1}`;
      await disturb(() => {
        reports[0] = { wan0: wanWith([address], []) };
      });
      await nodes[dice(2)]?.updater.round(never);
      expect(published(), `change ${n}`).toBe(address);
    }
  });

  it("on two firewalls that take turns: the master's address, even after fail-back", async () => {
    const rules = "when: carp-master\nvhid: 1";
    await openNode("a", firewalls[0], rules);
    await openNode("b", firewalls[1], rules);
    let master = 0;
    const state = [0, 1].map((n) => `9.9.1.${n + 1}`);
    const tell = () => {
      reports = state.map((address, n) => ({
        wan0: { ...wanWith([address], []), carp: { 1: { status: n === master ? "MASTER" : "BACKUP" } } },
      }));
    };
    tell();
    for (let n = 1; n <= changes; n++) {
      await disturb(() => {
        if (dice(4) === 0) state[dice(2)] = `9.9.2.${(n % 250) + 1}`;
        else master = 1 - master;
        tell();
      });
      await nodes[1 - master]?.updater.round(never);
      await nodes[master]?.updater.round(never);
      expect(published(), `change ${n}`).toBe(state[master]);
    }
  });
});
