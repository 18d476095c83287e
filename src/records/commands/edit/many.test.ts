import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noStoredNames } from "../../../core/records/dname.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import { plainSettings, type Zone } from "../../model.ts";
import { editingMany } from "./many.ts";
import { editRecord, type RecordContent } from "./record.ts";

const zone = { name: "example.org", settings: plainSettings(60) } as Zone;
const now = 5;

const content = (owner: string, type: "A" | "CNAME" | "TXT", value: string): RecordContent => ({
  owner,
  type,
  ttl: undefined,
  name: owner,
  value,
  rdata: value,
});
const contents = fc.array(
  fc.record({
    owner: fc.constantFrom("@", "a", "b"),
    type: fc.constantFrom("A" as const, "CNAME" as const, "TXT" as const),
    value: fc.constantFrom("1", "2", "3"),
  }),
  { maxLength: 8 },
);
const edits = (list: readonly { owner: string; type: "A" | "CNAME" | "TXT"; value: string }[]) =>
  list.map(({ owner, type, value }, i) => ({ id: `id${i}`, content: content(owner, type, value) }));
const edited = (...given: Parameters<typeof editingMany>) => finish(editingMany(...given));
const keyed = (sets: readonly RRset[]) =>
  sets.flatMap((set) => set.records.map((record) => `${set.owner} ${set.type} ${record.rdata} ${record.id}`)).sort();

describe("many records in one edit", () => {
  it("give the same result as one edit after the other, and are refused if one of those is", () => {
    fc.assert(
      fc.property(contents, (list) => {
        let sets: readonly RRset[] = [];
        let refused = false;
        for (const { id, content: each } of edits(list)) {
          const { wanted } = editRecord({ zone, sets, storedNames: noStoredNames }, { id, content: each }, now);
          refused ||= wanted === undefined;
          sets = wanted ?? sets;
        }
        const together = edited({ zone, sets: [], storedNames: noStoredNames }, edits(list), now);
        expect(together.kind).toBe(refused ? "refused" : "done");
        if (together.kind === "done") expect(keyed(together.wanted)).toEqual(keyed(sets));
        else expect(together.faults.size).toBeGreaterThan(0);
      }),
    );
  });

  it("are accepted without the entries that were refused", () => {
    fc.assert(
      fc.property(contents, (list) => {
        let left = edits(list);
        for (;;) {
          const outcome = edited({ zone, sets: [], storedNames: noStoredNames }, left, now);
          if (outcome.kind === "done") break;
          const before = left.length;
          left = left.filter((_, i) => !outcome.faults.has(i));
          expect(left.length).toBeLessThan(before);
        }
      }),
    );
  });

  it("keep the order of a set, and the record itself if nothing changes", () => {
    const record = (id: string, rdata: string) => ({
      id,
      name: "a",
      value: rdata,
      rdata,
      comment: "c",
      created: 1,
      modified: 1,
    });
    const set: RRset = { owner: "a", type: "A", ttl: 60, records: [record("x", "1"), record("y", "2")] };
    const same = edited(
      { zone, sets: [set], storedNames: noStoredNames },
      [{ id: "y", content: { ...content("a", "A", "2"), ttl: 60 } }],
      now,
    );
    expect(same).toMatchObject({ kind: "done", wanted: [set] });
    const shorter = edited(
      { zone, sets: [set], storedNames: noStoredNames },
      [{ id: "y", content: { ...content("a", "A", "2"), ttl: 30 } }],
      now,
    );
    expect(shorter).toMatchObject({ wanted: [{ ttl: 30, records: [{ modified: 1 }, { id: "y", modified: now }] }] });
    const changed = edited(
      { zone, sets: [set], storedNames: noStoredNames },
      [{ id: "x", content: content("a", "A", "9") }],
      now,
    );
    expect(changed).toMatchObject({
      wanted: [{ ttl: null, records: [{ id: "x", rdata: "9", comment: "c", created: 1, modified: now }, { id: "y" }] }],
    });
  });
});
