import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runMoor } from "../../src/cli/program.ts";
import { parseZoneFile } from "../../src/core/zone-file/parse.ts";
import { rcodes } from "../../src/lib/dns/codes.ts";
import { type AskParent, createAskParent } from "../../src/lib/dns/delegation.ts";
import type { Message } from "../../src/lib/dns/message.ts";
import { createLog } from "../../src/process/log.ts";
import { newRecordId } from "../../src/records/new-id.ts";
import { recordsDatabase, signingKeyFile } from "../../src/records/open-store.ts";
import { createSigningRound } from "../../src/records/signing/lifecycle/keep-signed.ts";
import { checkSigned, createSigningState } from "../../src/records/signing/lifecycle/watch-signed.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { freePort } from "../rig/free-port.ts";
import { isLongRun } from "../rig/long-run.ts";
import { repository } from "../rig/namespace.ts";
import { realPause } from "../rig/real-pause.ts";
import { signZone } from "../rig/records/sign.ts";
import { type Ask, createAsk, type SetQuestion } from "../rig/rehearsal/ask-all.ts";
import { createCachedAnswers } from "../rig/rehearsal/cached-answers.ts";
import { questionsFor } from "../rig/rehearsal/questions.ts";
import { startResolver } from "../rig/rehearsal/resolver.ts";
import { tellUnbound } from "../rig/rehearsal/unbound.ts";
import { startProcess } from "../rig/started-process.ts";
import { writeTo } from "../rig/store/write.ts";
import { until } from "../rig/until.ts";
import { everyone, type MoorDns, run, startMoorDns } from "./moor-dns.ts";
import { cachedFor, startUnboundWith } from "./signing-servers.ts";

export const parentName = "moving.example";

/** Every zone that moves has these records, at both servers. */
export const records = `@ 3600 NS ns1
ns1 3600 A 192.0.2.1
www 300 A 192.0.2.2
*.wild 300 TXT any
a.b.c 3600 TXT below
sub 300 NS ns.sub
ns.sub 300 A 192.0.2.3
`;
export const zoneFile = (zone: string): string =>
  `$ORIGIN ${zone}.\n$TTL 300\n@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n${records}`;

/** As in the documentation. */
const transfer = /^dig .* AXFR .*(?= >)/m.exec(readFileSync(join(repository, "docs/dnssec.md"), "utf8"))?.[0] ?? "";

/**
 * In a long run, unbound caches answers for this many seconds, and each wait takes that long. Otherwise it caches
 * nothing, and the effect of older answers is only calculated.
 */
const remembered = isLongRun ? 3 : 0;
const hour = 3_600_000;

export type MovingRig = Awaited<ReturnType<typeof startMovingRig>>;

/** A parent zone, moor with its data folder, and resolvers that trust the parent's key. */
export async function startMovingRig() {
  const folder = await mkdtemp(join(tmpdir(), "moor-moving-"));
  const data = join(folder, "data");
  await mkdir(data);
  const dns = await startMoorDns({ networks: everyone }, recordsDatabase(data), signingKeyFile(data));
  const stopped = new AbortController();
  const parent = await dns.makeZone(parentName, "@ 3600 NS ns\nns 3600 A 192.0.2.1");
  const by = { store: dns.store, actor: "test", now: Date.now() };
  const signed = await signZone(by, parent, { algorithm: 13, denial: "nsec" }, dns.signer);
  if (!signed.ok) throw new Error("the parent was not signed");
  const dnskey = `257 3 13 ${signed.value.keys[0]?.publicKey}`;
  const unbound = await startUnboundWith({
    anchors: [`${parentName}. 3600 IN DNSKEY ${dnskey}`],
    stubs: [{ name: parentName, servers: [dns.port] }],
    more: ['target-fetch-policy: "0 0 0 0 0"', "harden-algo-downgrade: yes", ...cachedFor(remembered)],
  });

  const ask = createAskParent([{ host: "127.0.0.1", port: dns.port, key: undefined }]);
  const silent = createLog({ format: "text", level: "silent", write: () => undefined });

  /** What the registrar's form does: the delegation of a zone, with these DS records. */
  const register = async (zone: string, ds: readonly string[]): Promise<void> => {
    const owner = zone.slice(0, -parentName.length - 1);
    const values = ds.map((text) => text.replace(/.* DS /, ""));
    const lines = [`${owner} 3600 NS ns1.${zone}.`, ...values.map((value) => `${owner} 86400 DS ${value}`)];
    const request = { account: dns.account, at: { zone: parent.id }, owners: () => [owner], actor: "registrar" };
    await writeTo(dns.store, { ...request, now: Date.now() }, () => ({
      wanted: writtenSets(parentName, lines.join("\n")).map((set) => ({
        ...set,
        records: set.records.map((record) => ({ ...record, id: newRecordId() })),
      })),
      result: undefined,
    }));
    await until(async () => (await digAt(dns.port, zone, "DS")).split("\n").filter(Boolean).length === values.length);
  };

  return {
    ...{ dns, folder, register },
    /** Queries the parents, as the service does once a minute. Returns the zones whose DS records match no key. */
    askParents: async (): Promise<readonly string[]> => {
      const state = createSigningState();
      const askParent: AskParent = async (zone, signal) => (zone === parentName ? [] : await ask(zone, signal));
      const by = { store: dns.store, now: Date.now, log: silent };
      await createSigningRound({ ...by, askParent })(stopped.signal);
      await checkSigned({ ...by, state });
      return [...state.parentFaults].flatMap(([zone, { kind }]) => (kind === "wrong-ds" ? [zone] : []));
    },
    makeZone: (zone: string) => dns.makeZone(zone, records),
    /** Creates the zone with the records of another server, which signs it. */
    importFrom: async (port: number, zone: string) => {
      const text = await run("sh", [
        "-c",
        transfer.replace("@192.0.2.53", `@127.0.0.1 -p ${port}`).replace("example.org", zone),
      ]);
      const file = parseZoneFile(text, zone);
      if (!file.ok) throw new Error(`${text}: ${file.faults[0]?.message}`);
      const lines = file.value.sets.flatMap(({ owner, type, ttl, records: values }) =>
        type === "SOA" ? [] : values.map(({ rdata }) => `${owner} ${ttl ?? "-"} ${type} ${rdata}`),
      );
      return await dns.makeZone(zone, lines.join("\n"));
    },
    /** Runs a command as the documentation names it. */
    moor: async (line: string): Promise<string> => {
      const { io, printed } = openTerminal(folder);
      const code = await runMoor([...line.split(" ").slice(1), "--data", "data"], io);
      if (code !== 0) throw new Error(`${line}: ${printed.out}${printed.err}`);
      return printed.out;
    },
    watch: (zone: string) => watch(zone, { dns, unbound, dnskey, folder, signal: stopped.signal }),
    close: async () => {
      stopped.abort();
      await unbound.close();
      await dns.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Watched = {
  readonly dns: MoorDns;
  readonly unbound: Awaited<ReturnType<typeof startUnboundWith>>;
  readonly dnskey: string;
  readonly folder: string;
  readonly signal: AbortSignal;
};

/**
 * Keeps querying unbound, which picks one of the zone's servers at random, and checks every combination of cached
 * answers.
 */
async function watch(zone: string, { dns, unbound, dnskey, folder, signal }: Watched) {
  const questions = questionsFor(zone, writtenSets(zone, records));
  const parentAsk = createAsk(dns.port, signal);
  const asks = new Map<number, Ask>();
  let servers: readonly number[] = [];
  const askOf = (port: number): Ask => {
    const ask = asks.get(port) ?? createAsk(port, signal);
    asks.set(port, ask);
    return ask;
  };
  const cached = createCachedAnswers(zone, questions, parentAsk, () => servers.map(askOf));
  const place = { folder, port: unbound.port, parent: { name: parentName, dnskey }, zone, path: "/usr/bin", signal };
  const delv = await startResolver(["delv"], place);
  const ask = createAsk(unbound.port, signal);
  const bad = new Set<string>();
  const counts = { asked: 0, checked: 0 };
  let clock = Date.now();
  let [rounds, isOver] = [0, false];

  /** A datagram may be lost on a busy machine. */
  const askPatiently = async (question: SetQuestion, tries = 3): Promise<Message> =>
    await ask(question).catch((error: unknown) => {
      if (tries === 1 || signal.aborted) throw error;
      return askPatiently(question, tries - 1);
    });
  const why = () =>
    unbound
      .said()
      .match(/.*validation failure.*/g)
      ?.at(-1);
  const askAll = async () => {
    for (const question of questions) {
      const { rcode, authenticData } = await askPatiently(question);
      counts.asked += 1;
      if (rcode === rcodes.servFail || !authenticData)
        bad.add(`unbound, ${servers.join(" ")}: ${question.name} ${question.type}, rcode ${rcode}: ${why()}`);
    }
  };
  const asking = async (): Promise<void> => {
    while (!isOver) {
      if (servers.length === 0) await nextTurn();
      else {
        await askAll();
        rounds += 1;
        await realPause(50, "a steady stream of questions, not a flood, which takes most of the time of such a test");
      }
    }
  };
  const running = asking().catch((error: unknown) => void bad.add(`unbound: ${String(error)}`));
  const someRounds = async () => {
    const enough = rounds + (isLongRun ? 5 : 2);
    await until(() => rounds >= enough, { what: () => `more answers for ${zone}` });
  };

  return {
    /** From now on, resolvers query these servers. */
    delegate: async (...ports: readonly number[]): Promise<void> => {
      await tellUnbound(unbound.folder, `stub_add ${zone}. ${ports.map((port) => `127.0.0.1@${port}`).join(" ")}`);
      servers = ports;
    },
    /** Checks everything now, and as it will be in this many hours; in between, caches only lose answers. */
    pass: async (hours: number): Promise<void> => {
      await cached.update(clock);
      for (const later of [0, hours * hour]) {
        clock += later;
        const { checked, bogus } = cached.check(clock);
        counts.checked += checked;
        for (const each of bogus) bad.add(`a cache: ${each}`);
      }
      await someRounds();
      for (const question of questions.slice(0, isLongRun ? undefined : 1))
        if ((await delv?.ask(question)) !== "secure") bad.add(`delv: ${question.name} ${question.type}`);
      if (remembered > 0) await realPause((remembered + 1) * 1_000, "caches forget by the real clock");
      // A validated key without a TTL still counts until the second is over, and many steps fit into a second.
      else await tellUnbound(unbound.folder, `flush_zone ${zone}`);
    },
    /** Ends it. Returns what was ever bogus, and the number of queries. */
    end: async () => {
      isOver = true;
      await running;
      return { bad: [...bad], ...counts };
    },
  };
}

export const digAt = async (port: number, zone: string, type: string): Promise<string> =>
  await run("dig", ["@127.0.0.1", "-p", `${port}`, "+noall", "+answer", "+tries=1", "+time=15", zone, type]);

export type PolicyZone = { readonly name: string; readonly policy: "default" | "two" };

/** BIND as it is usually set up to sign: by a policy, with one key (`default`) or with a KSK and a ZSK (`two`). */
export async function startBindWithPolicy(folder: string, zones: readonly PolicyZone[]) {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  for (const { name } of zones) await writeFile(join(folder, name), zoneFile(name));
  const config = join(folder, "named.conf");
  await writeFile(
    config,
    `options {
  directory "${folder}"; key-directory "${folder}"; pid-file none; session-keyfile none; notify no;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; allow-transfer { any; };
};
controls { };
dnssec-policy two {
  keys { ksk lifetime unlimited algorithm ecdsap256sha256; zsk lifetime unlimited algorithm ecdsap256sha256; };
};
${zones.map(({ name, policy }) => `zone "${name}" { type primary; file "${name}"; dnssec-policy ${policy}; allow-update { 127.0.0.1; }; };`).join("\n")}
`,
  );
  const child = startProcess(["/usr/sbin/named", "-g", "-n", "1", "-c", config], {});
  const isSigned = async (zone: string) =>
    (await run("dig", ["@127.0.0.1", "-p", `${port}`, "+dnssec", "+tries=1", "+time=5", `www.${zone}`, "A"])).includes(
      "RRSIG",
    );
  for (const { name } of zones)
    await until(() => isSigned(name), { every: 50, what: () => `BIND to sign ${name}: ${child.err()}` });
  return {
    port,
    nsupdate: async (zone: string, lines: string) => {
      const said = await run("nsupdate", [], `server 127.0.0.1 ${port}\nzone ${zone}\n${lines}\nsend\n`);
      if (said !== "") throw new Error(said);
    },
    close: () => child.stop(),
  };
}
