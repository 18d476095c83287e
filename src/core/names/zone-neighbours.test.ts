import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Consent,
  mostBelow,
  type Neighbour,
  namesBetween,
  type Reserved,
  refusalOfName,
  reversedBelow,
  reversedName,
} from "./zone-neighbours.ts";

const [us, them, third] = [1, 2, 3];
const zone = (name: string, account: number, number = 10): Neighbour => ({ name, account, number });
const from = (owner: Neighbour, name: string, account = us): Consent => ({ zone: owner.number, account, name });
const operator = (name: string, account = us): Consent => ({ zone: undefined, account, name });

type Case = {
  readonly above?: Neighbour;
  readonly below?: readonly Neighbour[];
  readonly consents?: readonly Consent[];
  readonly reserved?: Reserved;
};

const theirs = zone("alpha.test", them);
const deep = zone("x.www.alpha.test", them, 11);
const other = zone("y.www.alpha.test", third, 12);

/** `us` wants to create the zone `www.alpha.test`. */
const cases: readonly [string, Case, ReturnType<typeof refusalOfName>][] = [
  ["nothing is near", {}, undefined],
  ["our own zone is above", { above: zone("alpha.test", us) }, undefined],
  ["another account's zone is above", { above: theirs }, "inside-foreign-zone"],
  ["the owner above granted the name", { above: theirs, consents: [from(theirs, "www.alpha.test")] }, undefined],
  ["the owner above granted the whole zone", { above: theirs, consents: [from(theirs, "alpha.test")] }, undefined],
  [
    "the owner above granted a name below",
    { above: theirs, consents: [from(theirs, "x.www.alpha.test")] },
    "inside-foreign-zone",
  ],
  [
    "the owner above granted a sibling",
    { above: theirs, consents: [from(theirs, "ww.alpha.test")] },
    "inside-foreign-zone",
  ],
  [
    "the owner above granted it to a third account",
    { above: theirs, consents: [from(theirs, "alpha.test", third)] },
    "inside-foreign-zone",
  ],
  [
    "the owner of another zone granted it",
    { above: theirs, consents: [from(deep, "www.alpha.test")] },
    "inside-foreign-zone",
  ],
  ["the operator granted the name", { above: theirs, consents: [operator("www.alpha.test")] }, undefined],
  ["the operator granted a name above", { above: theirs, consents: [operator("alpha.test")] }, "inside-foreign-zone"],
  [
    "the operator granted it to a third account",
    { above: theirs, consents: [operator("www.alpha.test", third)] },
    "inside-foreign-zone",
  ],
  ["another account's zone is below", { below: [deep] }, "above-foreign-zone"],
  ["our own zone is below", { below: [zone("x.www.alpha.test", us)] }, undefined],
  ["the owner below consents", { below: [deep], consents: [from(deep, "www.alpha.test")] }, undefined],
  [
    "the owner below consents to a higher name",
    { below: [deep], consents: [from(deep, "alpha.test")] },
    "above-foreign-zone",
  ],
  [
    "the owner below granted its own names",
    { below: [deep], consents: [from(deep, "x.www.alpha.test")] },
    "above-foreign-zone",
  ],
  [
    "one of two owners below consents",
    { below: [deep, other], consents: [from(deep, "www.alpha.test")] },
    "above-foreign-zone",
  ],
  [
    "both owners below consent",
    { below: [deep, other], consents: [from(deep, "www.alpha.test"), from(other, "www.alpha.test")] },
    undefined,
  ],
  [
    "only the owner above consents, not the one below",
    { above: theirs, below: [other], consents: [from(theirs, "alpha.test")] },
    "above-foreign-zone",
  ],
  [
    "both the owner above and below consent",
    { above: theirs, below: [other], consents: [from(theirs, "alpha.test"), from(other, "www.alpha.test")] },
    undefined,
  ],
  [
    "the operator granted it, with zones above and below",
    { above: theirs, below: [deep, other], consents: [operator("www.alpha.test")] },
    undefined,
  ],
  ["it is a public suffix", { reserved: "public-suffix" }, "public-suffix"],
  ["it holds a nameserver", { reserved: "name-server" }, "name-server"],
  [
    "it is reserved, and the operator granted it",
    { reserved: "public-suffix", consents: [operator("www.alpha.test")] },
    undefined,
  ],
  [
    "it is reserved, and an owner below consents",
    { reserved: "public-suffix", below: [deep], consents: [from(deep, "www.alpha.test")] },
    "public-suffix",
  ],
  ["it is reserved inside our own zone", { reserved: "name-server", above: zone("alpha.test", us) }, undefined],
  ["it is reserved inside another's zone", { reserved: "name-server", above: theirs }, "inside-foreign-zone"],
  [
    "it is reserved, and the owner above granted it",
    { reserved: "name-server", above: theirs, consents: [from(theirs, "www.alpha.test")] },
    undefined,
  ],
];

describe("whether a zone may be created", () => {
  it.each(cases)("www.alpha.test, when %s", (_, { above, below = [], consents = [], reserved }, refusal) => {
    const newZone = { name: "www.alpha.test", account: us, reserved };
    expect(refusalOfName(newZone, { above, below, consents })).toBe(refusal);
  });

  it("consent to a name above a zone covers no names inside that zone", () => {
    const around = { above: deep, below: [], consents: [from(deep, "www.alpha.test")] };
    expect(refusalOfName({ name: "in.x.www.alpha.test", account: us }, around)).toBe("inside-foreign-zone");
  });

  it("with too many zones below, only the operator can allow it", () => {
    const below = Array.from({ length: mostBelow + 1 }, (_, i) => zone(`z${i}.alpha.test`, them, i + 1));
    const consents = below.map((each) => from(each, "alpha.test"));
    const newZone = { name: "alpha.test", account: us };
    expect(refusalOfName(newZone, { above: undefined, below, consents })).toBe("above-foreign-zone");
    expect(refusalOfName(newZone, { above: undefined, below: below.slice(1), consents })).toBeUndefined();
    expect(refusalOfName(newZone, { above: undefined, below, consents: [operator("alpha.test")] })).toBeUndefined();
  });
});

const label = fc.stringMatching(/^[a-z0-9_/][a-z0-9_/-]{0,3}$/);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));

describe("reversed names", () => {
  it("are in the range of a name exactly when they are below it", () => {
    fc.assert(
      fc.property(name, name, fc.boolean(), (a, b, joined) => {
        const inner = joined ? `${a}.${b}` : a;
        const { after, before } = reversedBelow(b);
        const reversed = reversedName(inner);
        expect(reversed > after && reversed < before).toBe(inner.endsWith(`.${b}`));
      }),
    );
  });

  it("put a name and the names below it next to each other when sorted", () => {
    expect(["alpha-b.test", "www.alpha.test", "alpha.test", "alpha0.test"].toSorted(byReversed)).toEqual([
      "alpha.test",
      "www.alpha.test",
      "alpha-b.test",
      "alpha0.test",
    ]);
  });
});

it("names between include the lower one and all its parents up to the upper one", () => {
  expect(namesBetween("a.b.c.test", "c.test")).toEqual(["a.b.c.test", "b.c.test"]);
});

const byReversed = (a: string, b: string): number => (reversedName(a) < reversedName(b) ? -1 : 1);
