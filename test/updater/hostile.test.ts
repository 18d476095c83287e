import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, test } from "vitest";
import { createLog } from "../../src/process/log.ts";
import { summarise } from "../../src/updater/report/describe-round.ts";
import { Reporter } from "../../src/updater/report/reporter.ts";
import { isLongRun } from "../rig/long-run.ts";
import { until } from "../rig/until.ts";
import { makeCertificate } from "../rig/updater/certificates.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import type { Asked } from "../rig/updater/services.ts";
import { hostileAddresses } from "./hostile-addresses.ts";
import { hostileFirewalls } from "./hostile-firewalls.ts";
import { after, before, type Certificates, type HostileRow, moved } from "./hostile-row.ts";
import { hostileMachines, hostileServices } from "./hostile-services.ts";

/** Every kind of trouble. */
const table: readonly HostileRow[] = [...hostileFirewalls, ...hostileAddresses, ...hostileServices, ...hostileMachines];

/**
 * Other statuses, bodies and addresses that end like one of the rows that stay. What they mean stands in
 * write-outcome.test.ts, quota.test.ts, read-interface-report.test.ts and choose-address.test.ts, and that no such
 * address is published in hostile-sources.test.ts; a long run tries what follows from each.
 */
const alike: Readonly<Partial<Record<HostileRow["part"], readonly string[]>>> = {
  status: ["201", "302 to its login", "307", "400", "429", "500"],
  body: ["blanks", "null", "a number", "ipv6 as text", "null for an address", "an empty object", "cut off JSON"],
  address: [
    ...["unspecified", "loopback", "link-local", "multicast", "of no host, and broadcast in 6to4", "empty texts"],
    ...["broadcast, and loopback mapped", "loopback in the compatible form", "loopback through NAT64", "too short"],
    ...["private in 6to4, public ones only", "leading zeros", "with a prefix", "with a zone", "with a blank"],
    ...["IPv4 mapped into IPv6, public ones only", "carrier-grade NAT, public ones only"],
    ...["for documentation, public ones only", "reserved, public ones only"],
  ],
  service: [
    ...["403", "404 for the write alone", "404 from a proxy for a write", "422 from a proxy for a write"],
    ...["201 for a write", "204 for a write", "408 for a write", "499 for a write", "409", "422 that means 409"],
    ...["429 with a date", "429 without a word", "502", "308 of a write", "200 and nothing", "200 and an array"],
    ...["200 and half a JSON", "sets: 404", "sets: 409", "sets: 423 locked", "sets: 202", "sets: 303", "sets: 408"],
  ],
};
const isTried = ({ part, title }: HostileRow) => isLongRun || !alike[part]?.includes(title);

let certificates: Certificates;
beforeAll(() => {
  certificates = {
    good: makeCertificate("IP:127.0.0.1"),
    stranger: makeCertificate("IP:127.0.0.1"),
    ...trusted(),
  };
});

/** Signed by the trusted authority, but wrong anyway. */
function trusted() {
  return { expired: makeCertificate("IP:127.0.0.1", -1), otherName: makeCertificate("DNS:elsewhere.test") };
}

async function openRow({ settings, overTls }: HostileRow): Promise<Loop> {
  if (!overTls) return openLoop(undefined, undefined, settings);
  const { good, expired, otherName } = certificates;
  const ca = join(process.env.TMPDIR ?? "/tmp", `moor-hostile-ca-${process.pid}.pem`);
  writeFileSync(ca, good.ca + expired.ca + otherName.ca);
  return openLoop(undefined, undefined, { ...settings, firewallTls: good, source: `ca: "${ca}"` });
}

const writesIn = (loop: Loop, from: number): readonly Asked[] =>
  loop.service.asked.slice(from).filter(({ method }) => method !== "GET");

/** Every address in a body that was sent; an empty list would be a wiped record. */
const valuesIn = ({ body }: Asked): readonly string[] => {
  const sent = JSON.parse(body) as { value?: string; records?: { value: string }[] };
  return sent.records?.map(({ value }) => value) ?? [sent.value ?? ""];
};

const publishedIn = (loop: Loop) =>
  Object.fromEntries(loop.records.filter(({ name }) => name === "home").map(({ type, value }) => [type, value]));

describe("whatever goes wrong, no wrong address and no empty one is published", () => {
  test.each(table.filter(isTried).map((row) => [row.part, row.title, row] as const))("%s: %s", async (_, __, row) => {
    const loop = await openRow(row);
    const lines: { level: string; msg: string; because?: string; todo?: string }[] = [];
    const log = createLog({ format: "json", write: (line: string) => void lines.push(JSON.parse(line)) });
    const reporter = new Reporter(log);
    try {
      expect(await loop.round()).toEqual(["done", "done"]);
      const asked = loop.service.asked.length;
      await row.begin(loop, certificates);
      const from = Math.min(asked, loop.service.asked.length);
      const first = await badRound(loop, row, reporter);
      for (let more = 0; more < 2; more++) {
        loop.clock.now += 300_000;
        await badRound(loop, row, reporter);
      }
      const [a = "", b = a] = row.outcomes;
      expect(first).toEqual([a, b]);
      const writes = writesIn(loop, from);
      for (const write of writes) expect([after.A, after.AAAA]).toEqual(expect.arrayContaining([...valuesIn(write)]));
      expect(writes.length).toBe(row.sent);
      expect(lines.filter(({ level }) => level === "warn").length).toBe(row.warnings);
      for (const { msg, because, todo } of lines) expect(`${msg} ${because} ${todo}`.length).toBeLessThan(1_000);
      if (!row.stopAt)
        expect(lines.map(({ msg, because, todo }) => `${msg} ${because} ${todo}`).join("\n")).toMatch(row.logged);
      expect(publishedIn(loop)).toEqual(row.published === "new" ? after : before);
      expect(loop.stored()).toEqual({ old: before, new: after, lost: {} }[row.stored ?? "old"]);

      await row.end?.(loop, certificates);
      loop.says.firewall = moved;
      loop.says.service = () => undefined;
      loop.clock.now += 300_000;
      reporter.report(await loop.updater.round(new AbortController().signal));
      expect(publishedIn(loop)).toEqual(after);
      expect(loop.stored()).toEqual(after);
      const over = lines.filter(({ msg }) => /is over|again$/.test(msg)).length;
      expect(over > 0).toBe(row.warnings > 0);
    } finally {
      await loop.close();
    }
  });

  async function badRound(loop: Loop, { stopAt }: HostileRow, reporter: Reporter) {
    const stop = new AbortController();
    const before = stopAt?.(loop).length ?? 0;
    const going = loop.updater.round(stop.signal);
    if (stopAt) {
      await until(() => stopAt(loop).length > before);
      stop.abort();
    }
    const round = await going;
    // What the stop aborted is not a failure.
    if (!stop.signal.aborted) reporter.report(round);
    return round.results.map((result) => summarise(result, true).kind);
  }

  it("has a row for each kind of trouble, at least sixty in all", () => {
    expect(table.length).toBeGreaterThanOrEqual(60);
    expect(new Set(table.map(({ part }) => part)).size).toBe(8);
    expect(new Set(table.map(({ part, title }) => `${part} ${title}`)).size).toBe(table.length);
    const titles = Object.values(alike).flat();
    expect(titles.filter((title) => !table.some((row) => row.title === title))).toEqual([]);
  });
});
