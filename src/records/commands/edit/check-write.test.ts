import fc from "fast-check";
import { expect, it } from "vitest";
import { checkEdit } from "../../../core/records/check-new-sets.ts";
import { noStoredNames } from "../../../core/records/dname.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import { type Publication, plainSettings, type Zone } from "../../model.ts";
import type { WriteView } from "../../store/port.ts";
import { checkingWrite, checkWrite } from "./check-write.ts";

const rules = { lowestTtl: 60, highestTtl: 600, types: ["A"], mostValues: 1 };
const published = { provider: 1, service: "Hetzner DNS", rules } as unknown as Publication;
const primary = plainSettings(300);

const settings = fc.oneof(
  { weight: 3, arbitrary: fc.constant(primary) },
  fc.constantFrom({ ...primary, mode: "secondary" as const }, { ...primary, published }),
);

const typesAtName: readonly RRset["type"][] = ["A", "AAAA", "CNAME", "TXT", "TYPE39"];

const records = fc
  .array(fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::1"), { minLength: 0, maxLength: 3 })
  .map((values) =>
    values.map((rdata, i) => ({ id: `${i}`, name: "", value: rdata, rdata, comment: "", created: 1, modified: 1 })),
  );

const set: fc.Arbitrary<RRset> = fc.record({
  owner: fc.constantFrom("@", "www", "a.www"),
  type: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<RRset["type"]>("A", "AAAA") },
    fc.constantFrom(...typesAtName),
  ),
  ttl: fc.constantFrom(null, 30, 300),
  records: fc.oneof({ weight: 2, arbitrary: records.map((some) => some.slice(0, 1)) }, records),
  locked: fc.boolean(),
});

/** As a store has them: a place has one set, with records. */
const stored = (sets: readonly RRset[]): readonly RRset[] => [
  ...new Map(
    sets.filter((each) => each.records.length > 0).map((each) => [setKey(each.owner, each.type), each]),
  ).values(),
];

const view = fc.record({
  zone: settings.map((its) => ({ name: "example.org", settings: its }) as Zone),
  sets: fc.array(set, { maxLength: 3 }).map(stored),
  storedNames: fc.constant(noStoredNames),
  mostValues: fc.constantFrom(undefined, 1, 2),
}) satisfies fc.Arbitrary<WriteView>;

/** Other records at the same places, or anything. */
const wantedOf = ({ sets }: WriteView): fc.Arbitrary<readonly RRset[]> =>
  fc.oneof(
    fc
      .tuple(...sets.map((each) => set.map((other) => ({ ...each, records: other.records, ttl: other.ttl }))))
      .map((all) => all.toReversed()),
    fc.array(set, { maxLength: 4 }),
  );

it("the shorter check of new addresses finds what all checks find", () => {
  const cases = view.chain((before) => wantedOf(before).map((wanted) => ({ before, wanted })));
  fc.assert(
    fc.property(cases, ({ before, wanted }) => {
      const all = finish(checkingWrite(before, wanted));
      const expected = all.length > 0 ? all : checkEdit(before.sets, wanted, before.mostValues);
      expect(checkWrite(before, wanted)).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});
