import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Family, families } from "../../../src/core/addresses/address.ts";
import { chooseAddress } from "../../../src/core/addresses/choose-address.ts";
import { readConfig } from "../../../src/updater/read-config.ts";
import type { AddressSource, SourceReading } from "../../../src/updater/sources/source.ts";
import { openSource, sourceKinds } from "../../../src/updater/sources/sources.ts";
import { until } from "../until.ts";

/** The peer of one kind of source: a real one, or a small server on loopback. */
export type SourceRig = {
  /** The entry in `sources:`, in flow style. `timeout` is a duration for its time limit, if it has one. */
  entry(timeout: string): string;
  /** The device in its reports. */
  readonly device: string;
  /** From now on, the peer works and reports these. False if this kind cannot report them. */
  say(addresses: Said): boolean | Promise<boolean>;
  /** What the peer can do wrong, and what the message says about it. `say` ends it. */
  readonly faults: readonly SourceFault[];
  /** From now on the peer accepts requests and never answers. */
  stall(): void | Promise<void>;
  /** The requests that wait for an answer of the stalled peer. */
  stalled(): number;
  /** The connections or processes that the source has open; with push, those of its stream too. */
  open(): number;
  /** For a kind that pushes, and whose streams can end: ends all. A new one is accepted. */
  hangUp?(): void | Promise<void>;
  /** Must never be shown; the peer echoes it where it can. */
  readonly secret?: string;
  close(): void | Promise<void>;
};

export type Said = { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };

export type SourceFault = {
  readonly title: string;
  begin(): void | Promise<void>;
  readonly because: RegExp;
  /** It only ends at the time limit. */
  readonly isSlow?: true;
};

export type StartRig = (folder: string) => SourceRig | Promise<SourceRig>;

const first = { ipv4: ["9.9.9.9"], ipv6: ["2a00::9"] };
const second = { ipv4: ["9.9.9.10"], ipv6: ["2a00::10"] };

/** What every kind of source must do. */
export function sourceSuite(kind: string, start: StartRig): void {
  describe(`a source of kind ${kind}`, () => {
    let folder: string;
    let rig: SourceRig;
    let source: AddressSource;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "moor-source-"));
      rig = await start(folder);
      source = await openFrom(folder, rig, "60s");
    });
    afterAll(async () => {
      source?.close();
      await rig?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const read = (signal = new AbortController().signal) => source.read(signal);
    const { can, only, families: known = families } = sourceKinds[kind] ?? {};
    const chosenIn = (reading: SourceReading) => choiceIn(reading, rig, known);
    const whyUnknown = (reading: SourceReading) => reasonsIn(reading, rig, known);
    const wanted = (said: Said) => Object.fromEntries(known.map((family) => [family, said[family][0]]));

    it("says what it can do, and has the expected device", () => {
      expect(can).toEqual({
        push: expect.any(Boolean),
        prefix: expect.any(Boolean),
        lifetimes: expect.any(Boolean),
      });
      if (only) expect(rig.device).toBe("internet");
    });

    it("reads the families that it knows, and each change", async () => {
      for (const said of [first, second, first]) {
        expect(await rig.say(said)).toBe(true);
        expect(chosenIn(await read())).toEqual(wanted(said));
      }
    });

    it("knows nothing while its peer fails, says what to do, and recovers", async () => {
      const quick = await openFrom(folder, rig, "1s");
      for (const fault of rig.faults) {
        const { title, because, isSlow } = fault;
        await fault.begin();
        const reading = await (isSlow ? quick : source).read(new AbortController().signal);
        expect([title, ...whyUnknown(reading)]).toEqual([title, expect.stringMatching(because)]);
        expect([title, JSON.stringify(reading).includes(rig.secret ?? "no secret")]).toEqual([title, false]);
        await rig.say(second);
        expect([title, chosenIn(await read())]).toEqual([title, wanted(second)]);
      }
      quick.close();
    });

    it("ends a read promptly when it is aborted", async () => {
      await rig.stall();
      const stop = new AbortController();
      const before = rig.stalled();
      const reading = read(stop.signal);
      await until(() => rig.stalled() > before);
      stop.abort();
      expect(whyUnknown(await reading)).toEqual([expect.any(String)]);
      expect(whyUnknown(await read(AbortSignal.abort()))).toEqual([expect.any(String)]);
      await rig.say(first);
      expect(chosenIn(await read())).toEqual(wanted(first));
    });

    it("pushes a snapshot and each change, ends with its stream, and resumes; or it offers no stream", async () => {
      const unheard = new AbortController();
      if (!can?.push) {
        expect(await source.follow(() => undefined, unheard.signal)).toEqual({ kind: "not-offered" });
        return;
      }
      await rig.say(first);
      const heard: unknown[] = [];
      const follow = (signal: AbortSignal) =>
        source.follow((reading) => void heard.push(JSON.stringify(chosenIn(reading))), signal);
      const hears = (said: Said) => {
        const text = JSON.stringify(wanted(said));
        return until(() => heard.at(-1) === text, { what: () => `${text}; it heard ${heard.join(" ")}` });
      };
      const end = new AbortController();
      const following = follow(end.signal);
      await hears(first);
      await rig.say(second);
      await hears(second);
      await (rig.hangUp ? rig.hangUp() : end.abort());
      expect(await following).toMatchObject({ kind: "ended" });
      await rig.say(first);
      const stop = new AbortController();
      const again = follow(stop.signal);
      await hears(first);
      stop.abort();
      expect((await again).kind).toBe("ended");
    });

    it("leaves nothing open", async () => {
      const other = await openFrom(folder, rig, "60s");
      await other.read(new AbortController().signal);
      other.close();
      source.close();
      await expect.poll(() => rig.open()).toBe(0);
    });
  });
}

async function openFrom(folder: string, rig: SourceRig, timeout: string): Promise<AddressSource> {
  writeFileSync(join(folder, "token"), "t0ken", { mode: 0o600 });
  const target = "targets: { dns: { url: 'https://dns.test', token: { file: token } } }";
  writeFileSync(join(folder, "moor.yaml"), `sources: { it: ${rig.entry(timeout)} }\n${target}\nnames: []\n`);
  const config = readConfig("moor.yaml", {}, folder);
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const entry = config.value.sources.get("it");
  if (!entry) throw new Error("no source");
  return openSource(entry);
}

/** Why each family is unknown, each reason once; what is known appears as an empty text. */
function reasonsIn(reading: SourceReading, { device }: SourceRig, known: readonly Family[]): readonly string[] {
  if (reading.kind === "unavailable") return [reading.todo === "" ? "nothing to do" : reading.because];
  const { report } = reading;
  const reasons = known.map((family) => {
    const { choice } = chooseAddress(report, { device, family });
    return reading.unknown?.[family]?.because ?? (choice.kind === "unknown-interface" ? "no interface" : "");
  });
  return [...new Set(reasons)];
}

function choiceIn(reading: SourceReading, { device }: SourceRig, known: readonly Family[]) {
  if (reading.kind === "unavailable") return reading;
  const texts = known.map((family) => {
    const { choice } = chooseAddress(reading.report, { device, family });
    return [family, choice.kind === "address" ? choice.address.text : (reading.unknown?.[family] ?? choice)];
  });
  return Object.fromEntries(texts) as unknown;
}
