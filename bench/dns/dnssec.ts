import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { dnssecTypes } from "../../src/core/dnssec/codes.ts";
import type { DenialKind } from "../../src/core/dnssec/plan-signing.ts";
import { noLog } from "../../src/process/log.ts";
import { openStore, recordsDatabase } from "../../src/records/open-store.ts";
import { signZone } from "../../test/rig/records/sign.ts";
import { createAsk } from "../../test/rig/rehearsal/ask-all.ts";
import { writeTo } from "../../test/rig/store/write.ts";
import { clock, type Pause, watchMachine } from "../machine-pauses.ts";
import { inTurn, median, usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";
import { benchedZone, buildService, fillZone, fillZones, ms, partOf, startService, writeMark } from "./service.ts";

type Chain = DenialKind | "unsigned";
const chains: readonly Chain[] = ["unsigned", "nsec", "nsec3"];
const ports = { http: 8397, dns: 5397 };
/** After the start, V8 compiles the code of a write; later ones run what it has compiled. */
const writes = { first: 500, later: 1_000 };
const names = 10_000;
const rounds = 3;

/**
 * What signing costs: a write, a whole zone, and the memory of the nameserver. How many signed answers it gives is in
 * `dns`.
 */
export async function benchDnssec(): Promise<readonly Table[]> {
  buildService();
  try {
    return [await signedWrites(), await wholeZones(), await memory()];
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

/** Removed at the end: while a file system discards the blocks of deleted files, every write to it waits. */
const folders: string[] = [];

/** The folder of a service with one zone of this many hosts. */
async function withZone<T>(hosts: number, work: (folder: string, mark: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-dnssec-"));
  folders.push(folder);
  const text = Array.from({ length: hosts }, (_, i) => `h${i} 60 A 192.0.2.${i % 256}`).join("\n");
  return await work(folder, await fillZone(folder, text));
}

type Signed = {
  readonly took: number;
  /** How long each write to another zone took, except those during which the machine stood still. */
  readonly others: readonly number[];
  /** How long the machine stood still. */
  readonly pauses: readonly number[];
};

/** Signs the zone while another one is written to without pause. Times are in milliseconds. */
async function sign(folder: string, chain: DenialKind): Promise<Signed> {
  const { store, signer, close } = await openStore({ kind: "sqlite", path: recordsDatabase(folder) }, noLog);
  const [zone, other] = [await store.zoneHolding(benchedZone), await store.zoneHolding("z0.example")];
  if (zone === undefined) throw new Error(`there is no zone ${benchedZone}`);
  let going = other !== undefined;
  const writes: Pause[] = [];
  const write = async () => {
    for (let i = 0; going && other; i++) {
      const from = clock();
      const at = { account: other.account, at: { zone: other.id }, owners: () => ["www"], actor: "bench" };
      await writeTo(store, { ...at, now: Date.now() }, ({ sets }) => ({
        wanted: sets.map((set) => ({ ...set, ttl: i % 1000 })),
        result: undefined,
      }));
      writes.push({ from, to: clock() });
    }
  };
  const machine = await watchMachine();
  const writing = write();
  // The first writes of a process are slow anyway.
  while (other && writes.length < 100) await nextTurn();
  writes.length = 0;
  const began = performance.now();
  const by = { store, actor: "bench", now: Date.now() };
  const done = await signZone(by, zone, { algorithm: 13, denial: chain }, signer);
  const took = performance.now() - began;
  going = false;
  await writing;
  const pauses = await machine.end();
  await close();
  if (!done.ok) throw new Error(done.faults[0]?.message);
  const isDisturbed = ({ from, to }: Pause) => pauses.some((pause) => pause.from < to && pause.to > from);
  return { took, others: writes.filter((each) => !isDisturbed(each)).map(lengthOf), pauses: pauses.map(lengthOf) };
}

const lengthOf = ({ from, to }: Pause): number => to - from;

async function signedWrites(): Promise<Table> {
  const rows: string[][] = [];
  // The code of this process has to be compiled too.
  await timesOfWrites("nsec");
  for (const chain of chains) {
    const took = await timesOfWrites(chain);
    for (const [when, part] of [
      [`the first ${writes.first}`, took.slice(0, writes.first)],
      [`the next ${writes.later.toLocaleString("en")}`, took.slice(writes.first)],
    ] as const)
      rows.push([chain, when, ms(partOf(part, 0.5)), ms(partOf(part, 0.99)), chain === "unsigned" ? "" : "3 ms"]);
  }
  return {
    title: "A write over HTTP until its answer over DNS, from the start of the service on, a zone of 1,000 names",
    how: "npm run bench dnssec",
    heads: ["zone", "writes", "median", "99 %", "target (median)"],
    rows,
  };
}

/** In milliseconds, each until its answer. */
const timesOfWrites = (chain: Chain): Promise<readonly number[]> =>
  withZone(1_000, async (folder, mark) => {
    if (chain !== "unsigned") await sign(folder, chain);
    const service = await startService(folder, ports, "--rate-limit", "off");
    const asked = createAsk(ports.dns, AbortSignal.timeout(600_000));
    const took: number[] = [];
    try {
      for (let i = 0; i < writes.first + writes.later; i++) {
        const value = `198.51.${i >> 8}.${i & 255}`;
        const began = performance.now();
        await writeMark(ports.http, mark, value);
        const { answers } = await asked({ name: `mark.${benchedZone}`, type: 1 });
        took.push(performance.now() - began);
        const isSigned = answers.some(({ type }) => type === dnssecTypes.rrsig);
        if (answers[0]?.data.join(".") !== value || isSigned !== (chain !== "unsigned"))
          throw new Error("the first answer after the write does not show it");
      }
      return took;
    } finally {
      await service.stop();
    }
  });

async function wholeZones(): Promise<Table> {
  const rows: string[][] = [];
  for (const chain of ["nsec", "nsec3"] as const) {
    const all = await inTurn(rounds, () =>
      withZone(names, async (folder) => {
        await fillZones(folder, 1);
        return await sign(folder, chain);
      }),
    );
    rows.push([
      chain,
      `${(median(all.map(({ took }) => took)) / 1000).toFixed(2)} s`,
      ms(median(all.map(({ others }) => partOf(others, 0.99)))),
      ms(median(all.map(({ others }) => Math.max(...others)))),
      ms(Math.max(...all.flatMap(({ others }) => others))),
      "4 s, 20 ms",
      ms(Math.max(0, ...all.flatMap(({ pauses }) => pauses))),
    ]);
  }
  return {
    title: `Signing a zone of ${names.toLocaleString("en")} names while another zone is written to, ${rounds} times; writes during which the machine stood still are left out`,
    how: "npm run bench dnssec",
    heads: [
      "zone",
      "signed in",
      "other writes, 99 %",
      "slowest of a round",
      "of all",
      "target",
      "the machine stood still for up to",
    ],
    rows,
  };
}

/**
 * Kilobytes of the service per name of a zone that it answers from: of all names, of the first, and of further ones. V8
 * and SQLite reserve memory in steps of several megabytes and keep it, so that the figures of the parts change from run
 * to run.
 */
async function memory(): Promise<Table> {
  const own = (hosts: number, chain: Chain) =>
    withZone(hosts, async (folder) => {
      if (chain !== "unsigned") await sign(folder, chain);
      const service = await startService(folder, ports, "--dns-workers", "0");
      try {
        const asked = createAsk(ports.dns, AbortSignal.timeout(600_000));
        // While a large zone is loaded, queries are answered with SERVFAIL.
        for (let found = 0; found === 0; )
          found = (await asked({ name: `mark.${benchedZone}`, type: 1 }).catch(() => undefined))?.answers.length ?? 0;
        return usageOf(service.pid).own;
      } finally {
        await service.stop();
      }
    });
  const sizes = [1, 2 * names, 6 * names];
  const spans = [
    [0, 2],
    [0, 1],
    [1, 2],
  ] as const;
  /** For each chain, per name: between these two sizes. */
  const figures: (readonly number[])[] = [];
  for (const chain of chains) {
    const each = await inTurn(rounds, () => inTurnOf(sizes, (hosts) => own(hosts, chain)));
    const at = sizes.map((_, i) => median(each.map((round) => round[i] ?? Number.NaN)) * 1000);
    const more = (of: readonly number[], from: number, to: number) => (of[to] ?? Number.NaN) - (of[from] ?? Number.NaN);
    figures.push(spans.map(([from, to]) => more(at, from, to) / more(sizes, from, to)));
  }
  const [first, next, all] = [2 * names, 4 * names, 6 * names].map((count) => count.toLocaleString("en"));
  const parts = [`all ${all}`, `the first ${first}`, `the next ${next}`];
  return {
    title: "Memory of the service per name of a zone",
    how: "npm run bench dnssec",
    heads: ["names", "zone", "per name", "ratio to unsigned", "target"],
    rows: parts.flatMap((part, i) =>
      chains.map((chain, j) => {
        const [figure = Number.NaN, plain = Number.NaN] = [figures[j]?.[i], figures[0]?.[i]];
        return [part, chain, `${figure.toFixed(2)} kB`, (figure / plain).toFixed(2), j === 0 ? "" : "2.5"];
      }),
    ),
  };
}

async function inTurnOf<Item, T>(items: readonly Item[], measure: (item: Item) => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (const item of items) all.push(await measure(item));
  return all;
}
