import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setOf } from "../../../src/core/dnssec/generated-changes.ts";
import { planningSigning, type ToSign } from "../../../src/core/dnssec/plan-signing.ts";
import { signatureInput } from "../../../src/core/dnssec/records.ts";
import { dataOfText, headOfSignature, type SignedName, textOfData } from "../../../src/core/dnssec/signed-name.ts";
import { printLabels } from "../../../src/core/names/label.ts";
import { ownerOf } from "../../../src/core/names/name.ts";
import { type RecordType, typeCode } from "../../../src/core/rdata/table.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { negativeTtlIn } from "../../../src/core/records/soa-timers.ts";
import { type ServedSet, setsOfView, wireOf } from "../../../src/core/records/zone-view.ts";
import { finish } from "../../../src/core/steps.ts";
import { StoreBusy } from "../../../src/lib/limits/store-busy.ts";
import { largeZone, plainSettings, type Zone } from "../../../src/records/model.ts";
import { newRecordId } from "../../../src/records/new-id.ts";
import { readServedZone } from "../../../src/records/queries/read-zone.ts";
import { KeyFileSigner, type Signer } from "../../../src/records/signing/signer.ts";
import { signingOf } from "../../../src/records/signing/signing-of.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import { createZoneView, writtenSets } from "../core/written-sets.suite.ts";
import { isLongRun } from "../long-run.ts";
import { createRandom, pick } from "../random.ts";
import { signZone, unsignNow } from "../records/sign.ts";
import { seed } from "../seed.ts";
import { actOn, createZoneIn, writeTo } from "./write.ts";

const random = createRandom(seed);
const now = Date.now();
const name = "signed.example";
const owners = ["@", "a", "x.a", "y.x.a", "*.a", "b", "c.b", "sub", "ns.sub", "q.ns.sub"];
const contents = ['TXT "a"', 'TXT "b"', "A 192.0.2.1", "MX 10 a", "NS ns.elsewhere.example.", "TYPE39 \\# 3 016100"];

/**
 * Every store signs what a write touches, in the same way as if it signed the whole zone. All do by the same rules:
 * outside of long runs, each tries one kind of denial.
 */
export function describeSigning(
  title: string,
  tried: "nsec" | "nsec3",
  open: (signer: Signer) => Promise<RecordStore>,
): void {
  describe(`${title}: signed zones`, () => {
    let store: RecordStore;
    let signer: Signer;
    let folder: string;
    let zone: Zone;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "moor-signing-"));
      signer = new KeyFileSigner(join(folder, "key"));
      // A test can replace the signer, as a restart does.
      store = await open(new Proxy(signer, { get: (_, key) => signer[key as keyof Signer] }));
      const { id: account } = await store.ensureAccount("main", now);
      const sets = withIds("@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1");
      const made = await createZoneIn(
        store,
        { account, id: name, name, settings: plainSettings(600), serial: 1, created: now, sets },
        "tester",
      );
      if (typeof made === "string") throw new Error(made);
      zone = made;
    });
    afterEach(async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const put = (owner: string, set: RRset, isGone: boolean) =>
      writeTo(
        store,
        { account: zone.account, at: { zone: zone.id }, owners: () => [owner], actor: "tester", now },
        ({ sets }) => {
          const others = sets.filter(({ type }) => type !== set.type);
          return { wanted: isGone ? others : [...others, set], result: undefined };
        },
      );

    const randomWrite = async (): Promise<void> => {
      const owner = pick(random, owners);
      const [set] = withIds(`${owner} 60 ${pick(random, contents)}`);
      if (set !== undefined && (owner !== "@" || set.type !== "NS")) await put(owner, set, random(3) === 0);
    };

    const line = (owner: string, type: RecordType, ttl: number | null, data: Uint8Array) =>
      `${owner} ${type} ${type === "TYPE46" ? headOfSignature(textOfData(46, data)).ttl : ttl} ${type === "SOA" || Buffer.from(data).toString("hex")}`;
    /** What the nameserver has if it loads the zone while it is written to. */
    const shownLines = async (pause: () => Promise<void>) => {
      const current = await store.zone(zone.account, zone.id);
      const signedNames: RecordStore["signedNames"] = async (...page) => {
        const names = await store.signedNames(...page);
        await pause();
        return names;
      };
      let sets: ServedSet[] = [];
      await readServedZone({ ...store, signedNames }, current ?? zone, pause, () => {
        sets = [];
        return (part) => void sets.push(...part);
      });
      const view = createZoneView({ name, ttl: 600, serial: 1, sets });
      return [...setsOfView(view)]
        .flatMap(({ name: at, set }) =>
          wireOf(set).map((data) => line(ownerOf(printLabels(at), name) ?? "", set.type, set.ttl, data)),
        )
        .sort();
    };
    const storedLines = async () => {
      const made = (await store.signedNames(zone, undefined, 1_000)).flatMap((each) => each.generated.map(setOf));
      return [...(await store.sets(zone, {})), ...made]
        .flatMap(({ owner, type, ttl, records }) =>
          records.map(({ rdata }) => line(owner, type, ttl, dataOfText(type, rdata))),
        )
        .sort();
    };

    /** What the stored names should be, made from the stored sets, without the bytes of the signatures. */
    const anew = async () => {
      const [current, sets] = [await store.zone(zone.account, zone.id), await store.sets(zone, {})];
      if (current?.settings.dnssec === undefined) throw new Error("not signed");
      const setsByOwner = Map.groupBy(sets, ({ owner }) => owner);
      const plan = finish(
        planningSigning({
          zone: name,
          ttl: current.settings.ttl,
          negativeTtl: negativeTtlIn(sets, current.settings.ttl),
          signing: signingOf(current.settings.dnssec, name, now),
          touched: new Map([...setsByOwner].map(([owner, all]) => [owner, all.map(({ type }) => typeCode(type))])),
          setsAt: (owner) => ({ sets: setsByOwner.get(owner) ?? [], changed: new Set() }),
          names: { at: () => undefined, before: () => undefined, after: () => undefined },
          allNames: [],
        }),
      );
      if (plan === "needs-all-names") throw new Error("not whole");
      return [...plan.namePlans()].flatMap(({ toSign, change }) => change(toSign.map(headsOf))?.after ?? []);
    };

    const denials = isLongRun ? (["nsec", "nsec3"] as const) : [tried];
    it.each(denials)("%s: one write after the other, and many at the same time", async (denial) => {
      const done = await signZone({ store, actor: "tester", now }, zone, { algorithm: 15, denial }, signer);
      expect(done).toMatchObject({ ok: true });
      for (let round = 0; round < 12; round++) {
        await Promise.all(Array.from({ length: round % 3 === 0 ? 1 : 5 }, randomWrite));
        await store.signed();
        expect(inShort(await store.signedNames(zone, undefined, 1_000))).toEqual(inShort(await anew()));
        expect(await shownLines(() => randomWrite().then(() => store.signed()))).toEqual(await storedLines());
      }
    });

    it("the log of what was signed leads from one state to the next, and owners do not see it", async () => {
      await signZone({ store, actor: "tester", now }, zone, { algorithm: 15, denial: "nsec" }, signer);
      const start = await store.lastChange();
      const before = madeSets(await store.signedNames(zone, undefined, 1_000));
      for (let i = 0; i < 10; i++) await randomWrite();
      await store.signed();
      for (const { change } of await store.logAfter(start, 1_000)) {
        if (change.kind !== "signatures") continue;
        for (const { owner, type, before: was, after } of change.sets ?? []) {
          expect(before.get(`${owner} ${type}`) ?? null).toEqual(was?.values.toSorted() ?? null);
          if (after === null) before.delete(`${owner} ${type}`);
          else before.set(`${owner} ${type}`, after.values.toSorted());
        }
      }
      expect(before).toEqual(madeSets(await store.signedNames(zone, undefined, 1_000)));
      const seen = [...(await store.changesAfter(start, 1_000)), ...(await store.historyOf(zone, { limit: 1_000 }))];
      expect(seen.filter(({ change }) => (change.kind as string) === "signatures")).toEqual([]);
    });

    it("renews signatures that expire soon, and only those", async () => {
      await signZone({ store, actor: "tester", now }, zone, { algorithm: 15, denial: "nsec" }, signer);
      const soon = 30 * 86_400_000;
      const [due] = await store.expiringNames(now + soon, 100);
      expect(due).toMatchObject({ zone: { name }, owners: expect.arrayContaining(["@", "ns1"]) });
      const renewAt = (at: number) =>
        writeTo(
          store,
          { account: zone.account, at: { zone: zone.id }, owners: () => ["ns1"], actor: "moor", now: at },
          () => ({ wanted: undefined, renew: ["ns1"], result: undefined }),
        );
      const first = await store.signedNames(zone, "@", 1);
      await renewAt(now);
      await store.signed();
      expect(await store.signedNames(zone, "@", 1)).toEqual(first);
      await renewAt(now + 13 * 86_400_000);
      await store.signed();
      const [renewed] = await store.signedNames(zone, "@", 1);
      expect(renewed?.expires).toBeGreaterThan(first[0]?.expires ?? 0);
      expect((await store.zone(zone.account, zone.id))?.modified).toBe(now);
    });

    it("forgets names and keys with the zone, and when it is unsigned", async () => {
      const by = { store, actor: "tester", now };
      const left = async () => [
        ...(await store.signedNames(zone, undefined, 10)),
        ...(await store.encryptedKeys(zone)),
        ...(await store.signedZones(0, 10)),
      ];
      for (const end of ["unsigned", "deleted"]) {
        await signZone(by, zone, { algorithm: 13, denial: "nsec" }, signer);
        expect(await store.encryptedKeys(zone)).toHaveLength(1);
        if (end === "unsigned") await unsignNow(by, zone);
        else
          await actOn(store, { account: zone.account, at: { name }, owners: "all", actor: "tester", now }, () => ({
            wanted: undefined,
            remove: true,
            result: undefined,
          }));
        expect(await left()).toEqual([]);
      }
    });

    it("links names that exist only because of a name below them, in a zone of which a write reads a part", async () => {
      const write = (owner: string, sets: readonly RRset[]) =>
        writeTo(
          store,
          { account: zone.account, at: { zone: zone.id }, owners: () => [owner], actor: "tester", now },
          () => ({ wanted: sets, result: undefined }),
        );
      const hosts = withIds(Array.from({ length: 60 }, (_, i) => `h${i} 60 A 192.0.2.1`).join("\n"));
      await writeTo(
        store,
        {
          ...{ account: zone.account, at: { zone: zone.id }, actor: "tester", now },
          owners: () => hosts.map(({ owner }) => owner),
        },
        () => ({ wanted: hosts, result: undefined }),
      );
      await signZone({ store, actor: "tester", now }, zone, { algorithm: 15, denial: "nsec3" }, signer);
      for (let i = 0; i < 8; i++) await write(`a.b.c${i}`, withIds(`a.b.c${i} 60 A 192.0.2.1`));
      await store.signed();
      expect(inShort(await store.signedNames(zone, undefined, 1_000))).toEqual(inShort(await anew()));
      for (let i = 0; i < 8; i += 2) await write(`a.b.c${i}`, []);
      await store.signed();
      expect(inShort(await store.signedNames(zone, undefined, 1_000))).toEqual(inShort(await anew()));
    });

    it("without the key file, a signed zone cannot be changed, but unsigned, and other zones are not affected", async () => {
      await signZone({ store, actor: "tester", now }, zone, { algorithm: 15, denial: "nsec" }, signer);
      const keyFile = join(folder, "key");
      const plain = { account: zone.account, settings: plainSettings(600), serial: 1, created: now };
      await createZoneIn(store, { ...plain, id: "plain.example", name: "plain.example", sets: [] }, "tester");
      const write = (id: string) =>
        writeTo(store, { account: zone.account, at: { zone: id }, owners: () => ["a"], actor: "tester", now }, () => ({
          wanted: withIds("a 60 A 192.0.2.1"),
          result: "done",
        }));
      renameSync(keyFile, `${keyFile}.away`);
      signer = new KeyFileSigner(keyFile);
      const [signed, unsigned] = await Promise.allSettled([write(zone.id), write("plain.example")]);
      expect(signed).toMatchObject({ reason: expect.any(StoreBusy) });
      expect(signed).toMatchObject({ reason: { message: expect.stringMatching(/key is missing.*restore your copy/) } });
      expect(unsigned).toMatchObject({ value: "done" });
      renameSync(`${keyFile}.away`, keyFile);
      expect(await write(zone.id)).toBe("done");
      renameSync(keyFile, `${keyFile}.away`);
      signer = new KeyFileSigner(keyFile);
      expect(await unsignNow({ store, actor: "tester", now }, zone)).toMatchObject({ ok: true });
    });

    it("by a clock that is far behind the last write, nothing is signed, and other zones are not affected", async () => {
      await signZone({ store, actor: "tester", now }, zone, { algorithm: 13, denial: "nsec" }, signer);
      const plain = { account: zone.account, settings: plainSettings(600), serial: 1, created: now };
      await createZoneIn(store, { ...plain, id: "plain.example", name: "plain.example", sets: [] }, "tester");
      const writeAt = (id: string, at: number, renew?: readonly string[]) =>
        writeTo(
          store,
          { account: zone.account, at: { zone: id }, owners: () => ["a"], actor: "tester", now: at },
          () => ({ wanted: withIds(`a 60 TXT "${at}"`), ...(renew && { renew }), result: "done" }),
        );
      const before = await store.signedNames(zone, undefined, 1_000);
      const earlier = now - 91 * 86_400_000;
      const together = [writeAt(zone.id, earlier), writeAt("plain.example", earlier), writeAt(zone.id, earlier, ["a"])];
      const [signed, unsigned, renewed] = await Promise.allSettled(together);
      for (const refused of [signed, renewed]) {
        expect(refused).toMatchObject({ reason: expect.any(StoreBusy) });
        expect(refused).toMatchObject({ reason: { message: expect.stringMatching(/days behind.*correct the clock/) } });
      }
      expect(unsigned).toMatchObject({ value: "done" });
      expect(await store.signedNames(zone, undefined, 1_000)).toEqual(before);
      expect(await writeAt(zone.id, now)).toBe("done");
      expect(await unsignNow({ store, actor: "tester", now: earlier }, zone)).toMatchObject({ ok: true });
    });

    // whole-zone.suite.ts signs a zone that is large already.
    it("signs a write that adds many names, and one that changes as many", async () => {
      const many = (value: string) =>
        withIds(Array.from({ length: largeZone + 100 }, (_, i) => `h${i} 60 TXT "${value}"`).join("\n"));
      const writeAll = (sets: readonly RRset[]) =>
        writeTo(
          store,
          { account: zone.account, at: { zone: zone.id }, owners: "all", actor: "tester", now },
          ({ sets: old }) => ({
            wanted: [...old.filter(({ owner }) => !owner.startsWith("h")), ...sets],
            result: undefined,
          }),
        );
      await signZone({ store, actor: "tester", now }, zone, { algorithm: 13, denial: "nsec" }, signer);
      await writeAll(many("one"));
      await store.signed();
      expect(inShort(await store.signedNames(zone, undefined, 2_000))).toEqual(inShort(await anew()));
      await writeAll(many("two"));
      await store.signed();
      expect(inShort(await store.signedNames(zone, undefined, 2_000))).toEqual(inShort(await anew()));
    });
  });
}

const withIds = (text: string): readonly RRset[] =>
  writtenSets(name, text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId(), created: now, modified: now })),
  }));

/** Of each signature, what `inShort` shows. */
const headsOf = ({ name: at, covers, ttl, data, keys }: ToSign) =>
  keys.map(
    ({ tag, algorithm }) =>
      signatureInput({ covers, ttl, tag, algorithm, zone: name, expires: 0, inception: 0 }, { name: at, data }).start,
  );

/** Of signatures, only the covered type and the TTL: their times differ, and so do their bytes. */
const inShort = (names: readonly SignedName[]) =>
  names
    .map(({ owner, chainKey, children, generated, types }) => ({
      ...{ owner, link: chainKey, children },
      types: types.toSorted((a, b) => a - b),
      made: generated
        .map(({ owner, type, ttl, values }) => {
          const shown = values.map((text) => {
            if (type !== "TYPE46") return text;
            const { covers, ttl: signed, tag } = headOfSignature(text);
            return `${covers} ${signed} ${tag}`;
          });
          return [owner, type, ttl, ...shown.sort()].join(" ");
        })
        .sort(),
    }))
    .sort((a, b) => (a.owner < b.owner ? -1 : 1));

const madeSets = (names: readonly SignedName[]) =>
  new Map(
    names.flatMap(({ generated }) => generated.map((set) => [`${set.owner} ${set.type}`, set.values.toSorted()])),
  );
