import { describe, expect, it } from "vitest";
import { type Family, families, recordTypeOf } from "../../src/core/addresses/address.ts";
import { sourceKinds } from "../../src/updater/sources/sources.ts";
import { isLongRun } from "../rig/long-run.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import type { SourceRig, StartRig } from "../rig/updater/source-suite.ts";
import { lyingRigs } from "../rig/updater/sources/rigs.ts";
import { hostileAddresses } from "./hostile-addresses.ts";
import { type AddressRow, after, before } from "./hostile-row.ts";

type Opened = { readonly rig: SourceRig; readonly loop: Loop; readonly known: readonly Family[] };

/** One loop for all rows: each begins with the same addresses, published and stored. */
async function open(kind: string, start: StartRig, settings: string): Promise<Opened> {
  const started = { rig: undefined as SourceRig | undefined };
  const entry = async (folder: string) => {
    started.rig = await start(folder);
    return started.rig.entry("60s");
  };
  const device = sourceKinds[kind]?.only ? "true" : "wan0";
  const known = sourceKinds[kind]?.families ?? families;
  const wanted = known.map((family) => `${family}: ${device}`).join(", ");
  const names = `  - { name: home, zone: example.org, ${wanted} }`;
  const loop = await openLoop(names, () => 0, { settings, entry });
  if (!started.rig) throw new Error("no rig");
  return { rig: started.rig, loop, known };
}

const publishedIn = ({ records }: Loop, known: readonly Family[]) =>
  ofFamilies(
    Object.fromEntries(records.filter(({ name }) => name === "home").map(({ type, value }) => [type, value])),
    known,
  );

/** Only the records of these families. */
const ofFamilies = (byType: Readonly<Record<string, string>>, known: readonly Family[]) =>
  Object.fromEntries(known.map((family) => [recordTypeOf(family), byType[recordTypeOf(family)]]));

/** False if the row does not apply to this kind of source: some cannot report every address. */
async function tryRow({ loop, rig, known }: Opened, row: AddressRow): Promise<boolean> {
  // Longer than the minimum between two polls of any source.
  const later = () => {
    loop.clock.now += 600_000;
    return loop.round();
  };
  await rig.say({ ipv4: [before.A], ipv6: [before.AAAA] });
  await later();
  expect([row.title, publishedIn(loop, known)]).toEqual([row.title, ofFamilies(before, known)]);
  const sent = loop.writes().length;
  const { ipv4 = [], ipv6 = [], flags } = row.wan0;
  const isFlagged =
    !flags?.includes("up") || ipv6.some(({ deprecated, tentative, detached }) => deprecated ?? tentative ?? detached);
  if (isFlagged) return false;
  const said = { ipv4: ipv4.map(({ ipaddr }) => ipaddr), ipv6: ipv6.map(({ ipaddr }) => ipaddr) };
  if (!(await rig.say(said))) return false;
  const kinds = await later();
  await later();
  const expected = ofFamilies(row.published === "new" ? after : before, known);
  expect([row.title, publishedIn(loop, known), loop.stored()]).toEqual([row.title, expected, expected]);
  expect([row.title, loop.writes().length - sent]).toEqual([row.title, (row.sent * known.length) / 2]);
  const allowed = row.published === "new" ? ["done"] : ["none", "failed"];
  expect([row.title, kinds.every((each) => allowed.includes(each))]).toEqual([row.title, true]);
  return true;
}

const kinds = Object.entries(lyingRigs).map(([kind, start], number) => [kind, start, number] as const);
/** Each kind tries a third, so that together they try all; in a long run each tries all. */
const rowsFor = (settings: string, number: number) =>
  hostileAddresses
    .filter((row) => (row.settings?.settings ?? "") === settings)
    .filter((_, at) => isLongRun || at % 3 === number % 3);

describe.each(kinds)("hostile addresses from a source of kind %s", (kind, start, number) => {
  it.each([
    ["by default", ""],
    ["with public: require", "public: require"],
  ])("are not published %s", async (_, settings) => {
    const opened = await open(kind, start, settings);
    try {
      const rows = rowsFor(settings, number);
      const applied: string[] = [];
      for (const row of rows) if (await tryRow(opened, row)) applied.push(row.title);
      expect(applied.length).toBeGreaterThanOrEqual(rows.length / 2);
    } finally {
      opened.loop.updater.close();
      await opened.rig.close();
      await opened.loop.close();
    }
  });
});
