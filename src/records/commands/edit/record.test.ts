import { describe, expect, it } from "vitest";
import { noStoredNames } from "../../../core/records/dname.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import { plainSettings, type Zone } from "../../model.ts";
import { deleteRecord, editRecord, type RecordContent } from "./record.ts";

const zone = { name: "example.org", settings: plainSettings(600) } as Zone;
const now = 9;

const content = (owner: string, value: string, ttl?: number): RecordContent => ({
  owner,
  type: "A",
  ttl,
  name: owner,
  value,
  rdata: value,
});
const record = (id: string, owner: string, value: string) => ({
  id,
  name: owner,
  value,
  rdata: value,
  comment: `about ${id}`,
  created: 1,
  modified: 1,
});
const sets: readonly RRset[] = [
  { owner: "www", type: "A", ttl: 60, records: [record("1", "www", "192.0.2.1"), record("2", "www", "192.0.2.2")] },
  { owner: "ftp", type: "A", ttl: null, records: [record("3", "ftp", "192.0.2.3")] },
];

/** One line per set: `www A 60: 1=192.0.2.1`. */
const lines = (wanted: readonly RRset[] | undefined) =>
  wanted
    ?.map(({ owner, type, ttl, records }) => {
      const values = records.map(({ id, value }) => `${id}=${value}`).join(" ");
      return `${setKey(owner, type)} ${ttl ?? "-"}: ${values}`;
    })
    .sort();
const ftp = "ftp A -: 3=192.0.2.3";
const www = "www A 60: 1=192.0.2.1 2=192.0.2.2";

describe("a new record", () => {
  it.each<[string, RecordContent, readonly string[]]>([
    ["alone", content("new", "192.0.2.9"), [ftp, "new A -: n=192.0.2.9", www]],
    ["alone, with a TTL", content("new", "192.0.2.9", 30), [ftp, "new A 30: n=192.0.2.9", www]],
    ["in a set, whose TTL stays", content("www", "192.0.2.9"), [ftp, `${www} n=192.0.2.9`]],
    [
      "in a set, whose TTL it changes",
      content("www", "192.0.2.9", 30),
      [ftp, "www A 30: 1=192.0.2.1 2=192.0.2.2 n=192.0.2.9"],
    ],
  ])("%s", (_, made, expected) => {
    expect(
      lines(editRecord({ zone, sets, storedNames: noStoredNames }, { id: "n", content: made }, now).wanted),
    ).toEqual(expected);
  });
});

describe("a replaced record", () => {
  it.each<[string, string, RecordContent, readonly string[]]>([
    ["by another value", "2", content("www", "192.0.2.9", 60), [ftp, "www A 60: 1=192.0.2.1 2=192.0.2.9"]],
    ["with only another TTL", "2", content("www", "192.0.2.2", 30), [ftp, "www A 30: 1=192.0.2.1 2=192.0.2.2"]],
    ["without a TTL", "2", content("www", "192.0.2.2"), [ftp, "www A -: 1=192.0.2.1 2=192.0.2.2"]],
    ["by the same", "2", content("www", "192.0.2.2", 60), [ftp, www]],
    ["by one at a new name", "2", content("new", "192.0.2.2"), [ftp, "new A -: 2=192.0.2.2", "www A 60: 1=192.0.2.1"]],
    [
      "by one in another set",
      "2",
      content("ftp", "192.0.2.2", 30),
      ["ftp A 30: 3=192.0.2.3 2=192.0.2.2", "www A 60: 1=192.0.2.1"],
    ],
    ["and leaves no empty set", "3", content("www", "192.0.2.3", 60), [`${www} 3=192.0.2.3`]],
  ])("%s", (_, id, next, expected) => {
    expect(lines(editRecord({ zone, sets, storedNames: noStoredNames }, { id, content: next }, now).wanted)).toEqual(
      expected,
    );
  });

  it("keeps its comment and creation time, and also its modification time if nothing changes", () => {
    const replaced = (value: string) =>
      editRecord({ zone, sets, storedNames: noStoredNames }, { id: "2", content: content("www", value, 60) }, now)
        .result;
    const kept = { id: "2", comment: "about 2", created: 1 };
    expect(replaced("192.0.2.9")).toMatchObject({
      recordInZone: { zone, ttl: 60, record: { ...kept, modified: now } },
    });
    expect(replaced("192.0.2.2")).toMatchObject({ recordInZone: { record: { ...kept, modified: 1 } } });
  });

  it("counts as changed if only the spelling of its name changes", () => {
    const spelled = { ...content("www", "192.0.2.2", 60), name: "WWW" };
    const { result } = editRecord({ zone, sets, storedNames: noStoredNames }, { id: "2", content: spelled }, now);
    expect(result).toMatchObject({ recordInZone: { record: { name: "WWW", modified: now } } });
  });

  it("is refused if it conflicts with its neighbours", () => {
    const twice = editRecord(
      { zone, sets, storedNames: noStoredNames },
      { id: "2", content: content("www", "192.0.2.1", 60) },
      now,
    );
    expect(twice).toMatchObject({
      wanted: undefined,
      result: { kind: "refused", faults: [{ code: "duplicate-value" }] },
    });
  });
});

describe("a deleted record", () => {
  it.each([
    ["2", [ftp, "www A 60: 1=192.0.2.1"]],
    ["3", [www]],
  ])("%s", (id, expected) =>
    expect(lines(deleteRecord({ zone, sets, storedNames: noStoredNames }, id).wanted)).toEqual(expected),
  );

  it("is refused if its set is protected", () => {
    const locked = sets.map((set) => ({ ...set, locked: true }));
    expect(deleteRecord({ zone, sets: locked, storedNames: noStoredNames }, "3")).toMatchObject({
      wanted: undefined,
      result: { kind: "refused", faults: [{ code: "set-locked", where: "ftp A" }] },
    });
  });
});
