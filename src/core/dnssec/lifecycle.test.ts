import { describe, expect, it } from "vitest";
import { beginLeaving, beginLife, beginRoll, type KeyUse, type Life, nextStage, type ParentView } from "./lifecycle.ts";

const key = (tag: number, algorithm: 13 | 15 = 13): KeyUse => ({
  ...{ id: `${tag}`, tag, algorithm, shown: false, signs: false, inParent: false },
});
const has = (...tags: number[]): ParentView => ({ ds: tags.map((tag) => ({ tag, algorithm: 13 })), ttl: 7_200 });

const hour = 3_600_000;
const highestTtl = 600;

/** Simulates a zone; `parentAt` is what its parent returns at each hour. Returns the stages, with what each key is used for. */
function play(start: Life<KeyUse>, parentAt: (life: Life<KeyUse>, hours: number) => ParentView, hours = 200): string[] {
  const seen = [show(start)];
  let life = start;
  for (let now = 0; now <= hours; now++) {
    const next = nextStage(life, parentAt(life, now), { now: now * hour, highestTtl });
    if (next === "gone") return [...seen, "gone"];
    if (next !== undefined && next.stage !== life.stage) seen.push(show(next));
    life = next ?? life;
  }
  return seen;
}

/** `D`: in the DNSKEY set, `S`: signs the zone, `P`: the parent should have its DS record. */
const show = ({ stage, keys }: Life<KeyUse>): string =>
  [stage, ...keys.map((k) => `${k.tag}${k.shown ? "D" : "-"}${k.signs ? "S" : "-"}${k.inParent ? "P" : "-"}`)].join(
    " ",
  );

/** A parent that does what CDS records ask for, a day later. */
const follows = (life: Life<KeyUse>, hours: number): ParentView => {
  const late = hours * hour < life.since + 24 * hour;
  const wanted = life.stage === "leaving" ? [] : life.keys.filter((k) => k.inParent).map((k) => k.tag);
  if (late) return life.stage.startsWith("new") ? has() : has(1);
  return life.stage === "new" ? has() : has(...wanted);
};

const secure: Life<KeyUse> = { ...beginLife(key(1), 0), stage: "secure" };

describe("the keys of a zone", () => {
  it("are secure once the parent has the DS record", () => {
    expect(play(beginLife(key(1), 0), () => has(1))).toEqual(["new 1DSP", "secure 1DSP"]);
    expect(play(beginLife(key(1), 0), follows)).toEqual(["new 1DSP", "new-parent 1DSP", "secure 1DSP"]);
  });

  it("are not offered to the parent while caches may have unsigned records", () => {
    const life = beginLife(key(1), 0);
    const at = (minutes: number) => nextStage(life, has(), { now: minutes * 60_000, highestTtl: 3_600 });
    expect([at(64), at(65)]).toEqual([undefined, expect.objectContaining({ stage: "new-parent" })]);
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
    expect(play(beginRoll(secure, key(2, 15), 0), follows)).toEqual([
      "algorithm-sign 1DSP 2-S-",
      "algorithm-show 1DSP 2DS-",
      "algorithm-parent 1DS- 2DSP",
      "algorithm-hide 1-S- 2DSP",
      "secure 2DSP",
    ]);
  });

  it("are removed when the DS record is gone from the parent and has expired from caches", () => {
    expect(play(beginLeaving(secure, 0), follows)).toEqual(["leaving 1DSP", "gone"]);
  });

  it.each<[string, () => ParentView]>([
    ["does not answer", () => undefined],
    ["still has the old DS record", () => has(1)],
    ["has both", () => has(1, 2)],
    ["has none", () => has()],
  ])("wait as long as the parent %s", (_, parent) => {
    const [, ...stages] = play(beginRoll(secure, key(2), 0), parent, 2_000);
    expect(stages).toEqual(["roll-parent 1DS- 2D-P"]);
  });

  it("wait again if the parent goes back to the old DS record too early", () => {
    const rolling: Life<KeyUse> = { ...beginRoll(secure, key(2), 0), stage: "roll-parent" };
    const flickers = (_: Life<KeyUse>, hours: number) => (hours % 20 === 0 ? has(1) : has(2));
    expect(play(rolling, flickers, 400)).toHaveLength(1);
    expect(play(rolling, () => has(2), 400).at(-1)).toContain("secure 2DS");
  });

  it("are not removed while the parent does not answer", () => {
    expect(play(beginLeaving(secure, 0), () => undefined, 2_000)).toEqual(["leaving 1DSP"]);
  });
});
