import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { headOfSignature, type SignedName } from "../../../src/core/dnssec/signed-name.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { largeZone, plainSettings, type SigningKey, type Zone } from "../../../src/records/model.ts";
import { newRecordId } from "../../../src/records/new-id.ts";
import { advanceStage } from "../../../src/records/signing/lifecycle/advance-stage.ts";
import { KeyFileSigner, type Signer } from "../../../src/records/signing/signer.ts";
import { everyDsOf } from "../../../src/records/signing/signing-of.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import { writtenSets } from "../core/written-sets.suite.ts";
import { itInLongRuns } from "../it-in-long-runs.ts";
import { isLongRun } from "../long-run.ts";
import { realPause } from "../real-pause.ts";
import { parentWith } from "../records/parent-with.ts";
import { rollKey, signZone, unsignNow } from "../records/sign.ts";
import { actOn, createZoneIn, writeTo } from "./write.ts";

const now = Date.now();
/** Just large enough to be written in steps; in a long run, of the size of the real thing. */
const size = isLongRun ? 60_000 : largeZone + 100;

export type WholeZoneRig = {
  /** Both stores sign by the same rules: outside of long runs, each tries one kind of denial. */
  readonly denial: "nsec" | "nsec3";
  /** A new place for a store. */
  readonly place: () => Promise<string>;
  /** A new place with a copy of a store that is closed. */
  readonly copyOf: (place: string) => Promise<string>;
  readonly open: (place: string, signer: Signer) => Promise<RecordStore>;
  /** The faults of the store at a place, as `moor store check` finds them. */
  readonly faults: (place: string) => Promise<readonly unknown[]>;
};

/** Work on a whole large zone is a series of short transactions, and nobody sees a part of it. */
export function describeWholeZones(title: string, rig: WholeZoneRig): void {
  describe(`${title}: a zone of ${size} names`, () => {
    let [store, signer, folder, zone, other]: [RecordStore, Signer, string, Zone, Zone] = [] as never;
    /** The zone, unsigned and signed: making it costs more than most tests, so each gets a copy. */
    let [plain, signed, place]: [string, string, string] = [] as never;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "moor-whole-"));
      signer = new KeyFileSigner(join(folder, "key"));
      plain = await rig.place();
      store = await rig.open(plain, signer);
      zone = await createZone("large.example", size);
      other = await createZone("other.example", 3);
      await store.close();
      signed = await rig.copyOf(plain);
      store = await rig.open(signed, signer);
      expect(await sign()).toMatchObject({ ok: true });
      await store.close();
    });
    afterEach(() => store.close());
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    async function openCopyOf(original: string): Promise<void> {
      place = await rig.copyOf(original);
      store = await rig.open(place, signer);
    }
    const faults = () => rig.faults(place);

    async function createZone(name: string, count: number): Promise<Zone> {
      const { id: account } = await store.ensureAccount("main", now);
      const hosts = Array.from({ length: count }, (_, i) => `h${i} - A 192.0.2.1`).join("\n");
      const sets = writtenSets(
        name,
        `@ - SOA ns1 hostmaster 1 7200 900 1209600 300\n@ - NS ns1\nns1 - A 192.0.2.1\n${hosts}`,
      );
      const made = await createZoneIn(
        store,
        { account, id: name, name, settings: plainSettings(60), serial: 1, created: now, sets: sets.map(withIds) },
        "tester",
      );
      if (typeof made === "string") throw new Error(made);
      return made;
    }
    const withIds = (set: RRset): RRset => ({
      ...set,
      records: set.records.map((record) => ({ ...record, id: newRecordId() })),
    });

    const current = async () => (await store.zone(zone.account, zone.id)) ?? zone;
    const sign = async (denial: "nsec" | "nsec3" = "nsec") =>
      await signZone({ store, actor: "tester", now }, await current(), { algorithm: 13, denial }, signer);
    const request = (at: Zone) => ({ account: at.account, at: { zone: at.id }, actor: "tester", now });
    const changeTtl = (ttl: number) =>
      writeTo(store, { ...request(zone), owners: () => [] }, ({ zone: { settings } }) => ({
        wanted: undefined,
        settings: { ...settings, ttl },
        result: "changed",
      }));
    const put = (at: Zone, text: string) => {
      const [set] = writtenSets(at.name, text);
      if (set === undefined) throw new Error("no set");
      return writeTo(store, { ...request(at), owners: () => [set.owner] }, () => ({
        wanted: [withIds(set)],
        result: undefined,
      }));
    };
    const removeAt = (at: Zone, owner: string) =>
      writeTo(store, { ...request(at), owners: () => [owner] }, () => ({ wanted: [], result: undefined }));
    const remove = () =>
      actOn(store, { ...request(zone), at: { name: zone.name }, owners: "to-remove" }, ({ sets }) => ({
        wanted: undefined,
        remove: !sets.some(({ locked }) => locked),
        actionName: "delete_zone",
        result: sets.length,
      }));
    const everyName = () => store.signedNames(zone, undefined, 2 * size);
    const ttlsIn = (names: readonly SignedName[]) =>
      new Set(
        names.flatMap(({ generated }) =>
          generated
            .filter(({ type }) => type === "TYPE46")
            .flatMap(({ values }) => values.map((v) => headOfSignature(v).ttl)),
        ),
      );
    const clean = async (at = now) => {
      let steps = 0;
      while (await store.removeLeftovers(at)) steps += 1;
      return steps;
    };
    /** Repeats a write until the work ends. Returns how often. */
    const meanwhile = async (work: Promise<unknown>, write: (i: number) => Promise<unknown>) => {
      let [isOver, count] = [false, 0];
      const ended = work.finally(() => {
        isOver = true;
      });
      ended.catch(() => undefined);
      while (!isOver) {
        await write(count++);
        await realPause(5, "a steady stream of writes, not a flood, which takes most of the time of such a test");
      }
      await ended;
      return count;
    };
    const rowsOf = async ({ number }: Zone) =>
      (await store.logAfter(0, 9 * size)).filter((row) => row.zone === number && row.serial > 1);

    it("begins with its settings in the log, like a small one", async () => {
      await openCopyOf(plain);
      const first = (await store.logAfter(0, 9 * size)).filter(({ change }) => "settings" in change);
      expect(first).toMatchObject(
        [zone, other].map(({ number, settings }) => ({
          zone: number,
          change: { kind: "create", owner: "@", type: "SOA", settings },
        })),
      );
    });

    it.each(isLongRun ? (["nsec", "nsec3"] as const) : [rig.denial])(
      "is signed with %s while others write, also to it",
      async (denial) => {
        await openCopyOf(plain);
        const count = await meanwhile(sign(denial), async (i) => {
          await put(other, `h0 - A 192.0.2.${i % 250}`);
          await put(zone, `new${i % 300} - TXT "${i}"`);
          if (i % 3 === 0) await removeAt(zone, `h${i}`);
        });
        expect(count).toBeGreaterThan(5);
        expect((await current()).settings.dnssec).toMatchObject({ denial });
        expect(await faults()).toEqual([]);
        await put(zone, 'after - TXT "1"');
        await removeAt(zone, "h1");
        // A try that was given up because of another write is removed later.
        await clean();
        expect(await faults()).toEqual([]);
      },
    );

    it("gets a new TTL, visible at one moment, while others write", async () => {
      await openCopyOf(signed);
      expect(ttlsIn(await everyName())).toEqual(new Set([60, 3_600]));
      const before = await current();
      const seen = new Set<string>();
      const work = changeTtl(120);
      await meanwhile(work, async (i) => {
        await put(other, `h0 - A 192.0.2.${i % 250}`);
        const [{ serial, settings }, [top]] = [await current(), await store.signedNames(zone, "h4", 1)];
        seen.add(`${serial - before.serial} ${settings.ttl} ${[...ttlsIn(top ? [top] : [])].join()}`);
      });
      expect(await work).toBe("changed");
      // The log announces the new names: until then, the zone is served with the TTL before (queries/read-zone.ts).
      for (const state of seen) expect(["0 60 60", "1 120 60", "1 120 120", "0 60 120"]).toContain(state);
      await store.signed();
      expect(ttlsIn(await everyName())).toEqual(new Set([120, 60, 3_600].filter((ttl) => ttl !== 60)));
      expect(await rowsOf(zone)).toMatchObject([
        { change: { kind: "settings" } },
        // Signing shortens the expire time.
        { change: { kind: "replace", type: "SOA" } },
        { change: { kind: "signing", aside: {} } },
        { change: { kind: "signatures", sets: null } },
        { change: { kind: "settings" } },
        { change: { kind: "signing", aside: {} } },
        { change: { kind: "signatures", sets: null } },
      ]);
      expect(await faults()).toEqual([]);
      expect(await clean()).toBeGreaterThan(size / 1_000);
      expect(await faults()).toEqual([]);
      expect(await everyName()).toHaveLength(size + 2);
    });

    // Each stage signs the whole zone, as a new TTL does above; keep-signed.test.ts has the stages of a small zone.
    itInLongRuns("gets a new key, stage by stage, while others write, also to it", async () => {
      await openCopyOf(signed);
      let at = now;
      const others: number[] = [];
      /** The next stage, with the DS records of these keys at the parent. */
      const nextStage = async (inParent: (keys: readonly SigningKey[]) => readonly SigningKey[]) => {
        const { settings, ...rest } = await current();
        const ds = inParent(settings.dnssec?.keys ?? []).flatMap((key) => everyDsOf(key, zone.name));
        at += 3 * 86_400_000;
        const moving = advanceStage({ store, now: at }, { ...rest, settings }, parentWith(ds), 3_600);
        await meanwhile(moving, async (i) => {
          const start = performance.now();
          await put(other, `h0 - A 192.0.2.${i % 250}`);
          others.push(performance.now() - start);
          if (i % 50 === 0) await put(zone, `new${i} - A 192.0.2.1`);
        });
        return (await current()).settings.dnssec?.stage;
      };
      const reach = async (stage: string, inParent: Parameters<typeof nextStage>[0]) => {
        for (let i = 0; i < 4; i++) if ((await nextStage(inParent)) === stage) return;
        throw new Error(`the stage ${stage} is not reached`);
      };
      await reach("new-parent", () => []);
      await reach("secure", (keys) => keys);
      expect(await rollKey({ store, now: at }, await current(), undefined, signer)).toMatchObject({ ok: true });
      await reach("roll-parent", (keys) => keys.slice(0, 1));
      await reach("roll-sign", (keys) => keys.slice(1));
      await reach("secure", (keys) => keys.slice(-1));
      expect((await current()).settings.dnssec?.keys).toHaveLength(1);
      await clean(at);
      expect(await faults()).toEqual([]);
      if (isLongRun) console.log(`${title}: others waited at most ${Math.max(...others).toFixed(0)} ms`);
    });

    it("is unsigned in one short transaction, and its names are deleted in steps, also if signing it again is interrupted", async () => {
      await openCopyOf(signed);
      expect(await unsignNow({ store, actor: "tester", now }, await current())).toMatchObject({ ok: true });
      expect(await everyName()).toEqual([]);
      expect(await store.signedZones(0, 10)).toEqual([]);
      expect(await store.expiringNames(now + 90 * 86_400_000, 10)).toEqual([]);
      expect(await faults()).toEqual([]);

      const signing = sign().catch((error: Error) => error.message);
      for (let i = 0; i < 5; i++) await put(other, `h0 - A 192.0.2.${i}`);
      await store.close();
      expect(await signing).toMatch(/closed/);
      store = await rig.open(place, signer);
      expect(await store.signedZones(0, 10)).toEqual([]);
      expect(await store.expiringNames(now + 90 * 86_400_000, 10)).toEqual([]);
      expect(await faults()).toEqual([]);

      expect(await sign()).toMatchObject({ ok: true });
      expect(await clean(now + 3_600_000)).toBeGreaterThan(size / 1_000);
      expect(await everyName()).toHaveLength(size + 2);
      expect(await faults()).toEqual([]);
    });

    it("is deleted at one moment, can be created again, and its rows are deleted in steps", async () => {
      await openCopyOf(signed);
      const [set] = await store.sets(zone, { owner: "h7" });
      const id = set?.records[0]?.id ?? "";
      expect(await store.record(zone.account, id)).toBeDefined();
      const deleted = await remove();
      expect(deleted).toMatchObject({ result: 2, action: { command: "delete_zone" } });
      expect(await store.zoneHolding("h7.large.example")).toBeUndefined();
      expect(await store.record(zone.account, id)).toBeUndefined();
      const ends = (await rowsOf(zone)).filter(({ change }) => change.kind === "delete");
      expect(ends.map(({ change }) => "type" in change && change.type)).toEqual(["NS", "SOA"]);
      expect(await faults()).toEqual([]);
      const again = await createZone("large.example", 2);
      expect(await store.sets(again, {})).toHaveLength(5);
      expect(await clean()).toBeGreaterThan(size / 500);
      expect(await store.sets(zone, {})).toEqual([]);
      expect(await store.sets(again, {})).toHaveLength(5);
      expect(await faults()).toEqual([]);
    });

    it("is not deleted while one of its sets is protected", async () => {
      await openCopyOf(plain);
      await writeTo(store, { ...request(zone), owners: () => ["h3"] }, ({ sets }) => ({
        wanted: sets.map((set) => ({ ...set, locked: true })),
        result: undefined,
      }));
      expect(await remove()).toMatchObject({ result: 3 });
      expect(await store.zoneHolding("large.example")).toBeDefined();
    });
  });
}
