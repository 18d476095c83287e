import { describe, expect, it } from "vitest";
import {
  beginGoingInsecure,
  beginRoll,
  beginSigning,
  cancelGoingInsecure,
  isTtlNeeded,
  type KeyUse,
  type Lifecycle,
  nextStage,
} from "./lifecycle.ts";
import type { Ds, ParentView, ServerView } from "./parent-view.ts";

const key = (tag: number, algorithm: 13 | 15 = 13): KeyUse => ({
  id: `${tag}`,
  tag,
  algorithm,
  shown: false,
  signs: false,
  inParent: false,
});
/** Stands for a real digest. */
const digest = (tag: number): string => `d${tag}`;
const ds = (tag: number, more: Partial<Ds> = {}): Ds => ({
  tag,
  algorithm: tag === other ? 15 : 13,
  digestType: 2,
  digest: digest(tag),
  ...more,
});
const dsOf = ({ tag }: KeyUse): readonly Ds[] => [1, 2, 4].map((digestType) => ds(tag, { digestType }));
/** The tag of a key with another algorithm. */
const other = 3;
const server = (name: string, records: readonly Ds[], ttl = 7_200): ServerView => ({ server: name, ds: records, ttl });
const silent: ServerView = { because: "ns2 does not answer" };
/** A parent with one server, with right DS records of these keys. */
const has = (...tags: number[]): ParentView => [
  server(
    "ns1",
    tags.map((tag) => ds(tag)),
  ),
];
/** A parent with two servers. */
const both = (one: readonly Ds[], two: readonly Ds[]): ParentView => [server("ns1", one), server("ns2", two)];

const hour = 3_600_000;
const highestTtl = 600;

/**
 * Simulates a zone; `parentAt` is what its parent returns at each hour. Returns the stages, with what each key is used
 * for.
 */
function play(
  start: Lifecycle<KeyUse>,
  parentAt: (life: Lifecycle<KeyUse>, hours: number) => ParentView,
  hours = 200,
): string[] {
  const seen = [show(start)];
  let life = start;
  for (let now = 0; now <= hours; now++) {
    const next = nextStage(life, parentAt(life, now), { now: now * hour, highestTtl, dsOf });
    if (next === "gone") return [...seen, "gone"];
    if (next !== undefined && next.stage !== life.stage) seen.push(show(next));
    life = next ?? life;
  }
  return seen;
}

/** `D`: in the DNSKEY set, `S`: signs the zone, `P`: the parent should have its DS record. */
const show = ({ stage, keys }: Lifecycle<KeyUse>): string =>
  [stage, ...keys.map((k) => `${k.tag}${k.shown ? "D" : "-"}${k.signs ? "S" : "-"}${k.inParent ? "P" : "-"}`)].join(
    " ",
  );

/** A parent that does what CDS records ask for, a day later. */
const follows = (life: Lifecycle<KeyUse>, hours: number): ParentView => {
  const late = hours * hour < life.since + 24 * hour;
  const wanted = life.stage === "leaving" ? [] : life.keys.filter((k) => k.inParent).map((k) => k.tag);
  if (late) return life.stage.startsWith("new") ? has() : has(1);
  return life.stage === "new" ? has() : has(...wanted);
};

const secure: Lifecycle<KeyUse> = { ...beginSigning(key(1), 0), stage: "secure" };

describe("the keys of a zone", () => {
  it("are secure once the parent has the DS record", () => {
    expect(play(beginSigning(key(1), 0), () => has(1))).toEqual(["new 1DSP", "secure 1DSP"]);
    expect(play(beginSigning(key(1), 0), follows)).toEqual(["new 1DSP", "new-parent 1DSP", "secure 1DSP"]);
  });

  it("are not offered to the parent while caches may have unsigned records", () => {
    const life = beginSigning(key(1), 0);
    const at = (minutes: number) => nextStage(life, has(), { now: minutes * 60_000, highestTtl: 3_600, dsOf });
    expect([at(64), at(65)]).toMatchObject([{ stage: "new", zoneTtl: 3_600 }, { stage: "new-parent" }]);
  });

  const rollsOn: Lifecycle<KeyUse> = {
    ...secure,
    stage: "roll-sign",
    keys: [
      { ...key(1), shown: true },
      { ...key(2), shown: true, signs: true, inParent: true },
    ],
  };
  it.each<[string, Lifecycle<KeyUse>]>([
    ["new", beginSigning(key(1), 0)],
    ["roll-sign", rollsOn],
    ["algorithm-sign", beginRoll(secure, key(3, 15), 0)],
  ])("wait for the highest TTL since the stage %s began, even if that record is deleted meanwhile", (stage, start) => {
    const ttlAt = (hours: number) => (hours < 1 ? 86_400 : 60);
    let life = start;
    const stages = Array.from({ length: 26 }, (_, hours) => {
      const clock = { now: hours * hour, highestTtl: isTtlNeeded(life, hours * hour) ? ttlAt(hours) : 0, dsOf };
      const next = nextStage(life, stage === "roll-sign" ? has(2) : has(), clock);
      if (next !== undefined && next !== "gone") life = next;
      return life.stage;
    });
    expect([stages[24], stages[25] === stage]).toEqual([stage, false]);
  });

  it("are replaced so that every resolver always has a path from the DS record to a signature", () => {
    expect(play(beginRoll(secure, key(2), 0), follows)).toEqual([
      "roll-show 1DSP 2D--",
      "roll-parent 1DS- 2D-P",
      "roll-sign 1D-- 2DSP",
      "secure 2DSP",
    ]);
  });

  it("of a new algorithm sign before they are published, and those of the old one are withdrawn before they stop signing (RFC 6840 section 5.11)", () => {
    expect(play(beginRoll(secure, key(3, 15), 0), follows)).toEqual([
      "algorithm-sign 1DSP 3-S-",
      "algorithm-show 1DSP 3DS-",
      "algorithm-parent 1DS- 3DSP",
      "algorithm-hide 1-S- 3DSP",
      "secure 3DSP",
    ]);
  });

  it("are removed when the DS record is gone from the parent and has expired from caches", () => {
    expect(play(beginGoingInsecure(secure, 0), follows)).toEqual(["leaving 1DSP", "gone"]);
  });

  describe("that were to be removed, but are kept after all,", () => {
    const rolling = beginRoll(secure, key(2), 0);
    const keys = [
      { ...key(1), shown: true, signs: true },
      { ...key(2), shown: true, inParent: true },
    ];
    it.each<[string, Lifecycle<KeyUse>, ParentView, readonly string[]]>([
      ["the DS record is still there", secure, has(1), ["new-parent 1DSP", "secure 1DSP"]],
      ["the DS record is gone", secure, has(), ["new-parent 1DSP"]],
      ["the parent never had a DS record", beginSigning(key(1), 0), has(), ["new 1DSP", "new-parent 1DSP"]],
      ["the next key was published", rolling, has(1), ["roll-show 1DSP 2D--", "roll-parent 1DS- 2D-P"]],
      [
        "the parent was asked for the next key",
        { ...rolling, stage: "roll-parent", keys },
        has(2),
        ["roll-parent 1DS- 2D-P", "roll-sign 1D-- 2DSP", "secure 2DSP"],
      ],
    ])("continue: %s", (_, before, parent, stages) => {
      const leaving = nextStage(beginGoingInsecure(before, 0), has(), { now: 0, highestTtl, dsOf });
      if (leaving === undefined || leaving === "gone") throw new Error("the parent has no DS record");
      const kept = cancelGoingInsecure(leaving, 0);
      expect(play(kept, () => parent)).toEqual(stages);
      expect(kept).not.toHaveProperty("parentSince");
      expect(kept).not.toHaveProperty("left");
    });
  });

  const unusable: readonly (readonly [string, ParentView])[] = [
    ["does not answer", [silent]],
    ["was not found", []],
    ["still has the old DS record", has(1)],
    ["has both", has(1, 2)],
    ["has none", has()],
    ["has a DS record with the right tag and a wrong digest", [server("ns1", [ds(2, { digest: "d9" })])]],
    ["has a wrong digest beside the right one", [server("ns1", [ds(2), ds(2, { digest: "d9" })])]],
    [
      "has a right SHA-256 digest, and a wrong SHA-384 digest",
      [server("ns1", [ds(2), ds(2, { digestType: 4, digest: "d9" })])],
    ],
    ["has a SHA-384 digest of another key only", [server("ns1", [ds(2), ds(7, { digestType: 4 })])]],
    ["has a DS record of another algorithm with the same digest", [server("ns1", [ds(2, { algorithm: 8 })])]],
    ["has only a digest of an unknown type", [server("ns1", [ds(2, { digestType: 5 })])]],
    ["may have the old key with a digest of an unknown type", [server("ns1", [ds(2), ds(1, { digestType: 5 })])]],
    ["has one server that does not answer", [server("ns1", [ds(2)]), silent]],
    ["has one server with the old DS record", both([ds(2)], [ds(1)])],
    ["has one server without a DS record", both([ds(2)], [])],
    ["has one server with a wrong digest", both([ds(2)], [ds(2, { digest: "d9" })])],
  ];
  it.each(unusable)("wait as long as the parent %s", (_, parent) => {
    const [, ...stages] = play(beginRoll(secure, key(2), 0), () => parent, 2_000);
    expect(stages).toEqual(["roll-parent 1DS- 2D-P"]);
  });

  it.each(unusable)("are never removed if, after the DS record was replaced, the parent %s", (_, parent) => {
    const signing: Lifecycle<KeyUse> = {
      ...secure,
      stage: "roll-sign",
      keys: [
        { ...key(1), shown: true },
        { ...key(2), shown: true, signs: true, inParent: true },
      ],
    };
    expect(play(signing, () => parent, 2_000)).toEqual(["roll-sign 1D-- 2DSP"]);
    const hiding = { ...signing, stage: "algorithm-hide" as const };
    expect(play(hiding, () => parent, 2_000)).toEqual(["algorithm-hide 1D-- 2DSP"]);
  });

  it.each<[string, readonly Ds[]]>([
    ["a SHA-256 digest", [ds(2)]],
    ["a SHA-384 digest", [ds(2, { digestType: 4 })]],
    ["a SHA-1 digest alone", [ds(2, { digestType: 1 })]],
    ["all digests", dsOf(key(2))],
    ["a digest of an unknown type beside the right one", [ds(2), ds(2, { digestType: 5 })]],
    ["the DS record of a server that also signs the zone", [ds(2), ds(8), ds(8, { digestType: 1 })]],
  ])("are replaced if the parent has %s", (_, records) => {
    const parentOf = (life: Lifecycle<KeyUse>) => (life.stage === "roll-show" ? has(1) : both(records, [ds(2)]));
    expect(play(beginRoll(secure, key(2), 0), parentOf).at(-1)).toBe("secure 2DSP");
  });

  it.each(unusable.filter(([name]) => !/old|both/.test(name)))("are not secure if the parent %s", (_, parent) => {
    expect(play(beginSigning(key(2), 0), () => parent, 2_000)).toEqual(["new 2DSP", "new-parent 2DSP"]);
  });

  it("wait for the highest TTL of the old DS set that was seen at any server", () => {
    const week = 7 * 86_400;
    const parentOf = (life: Lifecycle<KeyUse>, hours: number): ParentView =>
      life.stage === "roll-show" || hours < 5 ? [server("ns1", [ds(1)]), server("ns2", [ds(1)], week)] : has(2);
    const stages = (hours: number) =>
      play(beginRoll(secure, key(2), 0), parentOf, hours).map((each) => each.split(" ")[0]);
    expect(stages(7 * 24)).toEqual(["roll-show", "roll-parent"]);
    expect(stages(7 * 24 + 8)).toEqual(["roll-show", "roll-parent", "roll-sign", "secure"]);
  });

  it("wait again if one server goes back to the old DS record, even while another does not answer", () => {
    const rolling: Lifecycle<KeyUse> = { ...beginRoll(secure, key(2), 0), stage: "roll-parent" };
    const goesBack = (_: Lifecycle<KeyUse>, hours: number) =>
      hours === 24 ? [silent, server("ns1", [ds(1)])] : has(2);
    expect(play(rolling, goesBack, 26)).toHaveLength(1);
    expect(play(rolling, goesBack, 52).at(-1)).toContain("secure 2DS");
  });

  it("that are no longer wanted wait from the beginning, whatever was seen at the parent before", () => {
    const rolling: Lifecycle<KeyUse> = { ...beginRoll(secure, key(2), 0), stage: "roll-parent", parentSince: 0 };
    const leaving = beginGoingInsecure(rolling, 25 * hour);
    const at = (hours: number) => nextStage(leaving, has(), { now: hours * hour, highestTtl, dsOf });
    expect([at(25), at(26)]).toEqual([
      expect.objectContaining({ parentSince: 25 * hour }),
      expect.objectContaining({ parentSince: 26 * hour }),
    ]);
  });

  it("wait again if the parent goes back to the old DS record too early", () => {
    const rolling: Lifecycle<KeyUse> = { ...beginRoll(secure, key(2), 0), stage: "roll-parent" };
    const flickers = (_: Lifecycle<KeyUse>, hours: number) => (hours % 20 === 0 ? has(1) : has(2));
    expect(play(rolling, flickers, 400)).toHaveLength(1);
    expect(play(rolling, () => has(2), 400).at(-1)).toContain("secure 2DS");
  });

  it("are not removed while the parent does not answer", () => {
    expect(play(beginGoingInsecure(secure, 0), () => [silent], 2_000)).toEqual(["leaving 1DSP"]);
    expect(play(beginGoingInsecure(secure, 0), () => [server("ns1", []), silent], 2_000)).toEqual(["leaving 1DSP"]);
    expect(play(beginGoingInsecure(secure, 0), () => both([], [ds(1, { digestType: 5 })]), 2_000)).toEqual([
      "leaving 1DSP",
    ]);
  });
});
