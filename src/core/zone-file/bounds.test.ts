import { describe, expect, test } from "vitest";
import { isLongRun } from "../../../test/rig/long-run.ts";
import { finish } from "../steps.ts";
import { findingClashes } from "./clashes.ts";
import { parseZoneFile, parsingZoneFile } from "./parse.ts";
import { findingZoneName } from "./zone-name.ts";

const limit = 128 * 1024 * 1024;

/** Large enough that anything slower than linear takes minutes. */
const size = (isLongRun ? 1024 : 256) * 1024;

describe("a long text of", () => {
  test.each([
    ["parentheses", "("],
    ["parentheses on lines", "(\n"],
    ["closing parentheses", ")\n"],
    ["quotes", '"'],
    ["quotes on lines", '"\n'],
    ["quotes after =", 'a="\n'],
    ["escapes", "\\"],
    ["escaped quotes", '\\"'],
    ["short words", "a "],
    ["dots", "."],
    ["labels", "a."],
    ["lines with a name", "a\n"],
    ["directives", "$INCLUDE x\n"],
    ["carriage returns", "\r"],
    ["one long string", "a TXT \\000\\000"],
  ])("%s are refused, with a bounded number of faults", (_, unit) => {
    const text = unit.repeat(size / unit.length);
    const file = parseZoneFile(text, "example.org");
    expect(file.ok ? [] : file.faults.length).toSatisfy((count: number) => count >= 1 && count <= 1_001);
    expect(finish(findingZoneName(text))).toBeUndefined();
  });

  test.each(["\n", " ", ";"])("%j is read as an empty file", (unit) => {
    expect(parseZoneFile(unit.repeat(size), "example.org")).toMatchObject({ ok: true, value: { sets: [] } });
  });
});

test("a file that is longer than the limit is not read", () => {
  const text = ";".repeat(limit + 1);
  expect(parseZoneFile(text, "example.org")).toMatchObject({ ok: false, faults: [{ code: "file-too-long" }] });
  expect(finish(findingZoneName(text))).toBeUndefined();
});

test("the fault after which reading stopped says so", () => {
  const file = parseZoneFile("a\n".repeat(5_000), "example.org");
  expect(file.ok ? undefined : file.faults.at(-1)).toMatchObject({ code: "too-many-faults", where: "line 1000" });
});

test("the largest record is read, and a larger one refused", () => {
  const strings = (count: number) => `a TXT (${'""\n'.repeat(count)})`;
  expect(parseZoneFile(strings(65_535), "example.org")).toMatchObject({ ok: true });
  expect(parseZoneFile(strings(65_536), "example.org")).toMatchObject({ faults: [{ code: "rdata-too-long" }] });
  expect(parseZoneFile(strings(80_000), "example.org")).toMatchObject({ faults: [{ code: "entry-too-long" }] });
});

describe("many records", () => {
  const count = isLongRun ? 100_000 : 25_000;
  const lines = Array.from({ length: count }, (_, i) => `A 10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`);

  test.each([
    ["of as many names", lines.map((line, i) => `host${i}\t300\tIN\t${line} ; host`).join("\n"), count],
    ["of one name", `a TXT x\n ${lines.join("\n ")}`, 2],
    [
      "of one name and many types",
      lines.map((_, i) => `a TYPE${1_000 + (i % 60_000)} \\# 1 ab`).join("\n"),
      Math.min(count, 60_000),
    ],
  ])("%s", (_, text, sets) => {
    const file = parseZoneFile(text, "example.org");
    expect(file.ok && file.value.sets.length).toBe(sets);
  });
});

describe("the zone that a file is for", () => {
  test.each([
    ["$ORIGIN Example.org.\n@ SOA a. b. 1 2 3 4 5", "example.org"],
    ["example.org. 300 IN SOA ( a. b. 1\n2 3 4 5 )", "example.org"],
    ["$ORIGIN org.\n$TTL 5\nexample A 192.0.2.1\n SOA a. b. 1 2 3 4 5\n$ORIGIN net.", "example.org"],
    ["$ORIGIN .\nexample.org SOA a. b. 1 2 3 4 5", "example.org"],
    ["$ORIGIN example.org.\nwww A 192.0.2.1", "example.org"],
    ["@ SOA a. b. 1 2 3 4 5", undefined],
    ["example.org SOA a. b. 1 2 3 4 5", undefined],
    ["", undefined],
    ["$ORIGIN a..b.\n$ORIGIN", undefined],
  ])("%j", (text, name) => {
    expect(finish(findingZoneName(text))).toBe(name);
  });
});

describe("a file with a limit on its records", () => {
  const text = "a A 192.0.2.1\n".repeat(10) + "b A 192.0.2.1\nc A\n".repeat(1_000);

  test("is read up to the limit, and no further", () => {
    const steps = parsingZoneFile(text, "example.org", 10);
    let count = 0;
    for (let step = steps.next(); ; step = steps.next()) {
      if (!step.done) {
        count += 1;
        continue;
      }
      const file = step.value;
      expect(file.ok ? [] : file.faults.map(({ code, where }) => `${where}: ${code}`)).toEqual([
        "line 11: too-many-records",
      ]);
      break;
    }
    expect(count).toBe(11);
  });

  test("is accepted with exactly as many as the limit", () => {
    expect(finish(parsingZoneFile("a A 192.0.2.1\n".repeat(10), "example.org", 10)).ok).toBe(true);
  });
});

test("sets that cannot coexist are reported up to a readable number", () => {
  const text = Array.from({ length: 3_000 }, (_, i) => `h${i} A 192.0.2.1\nh${i} CNAME x\n`).join("");
  const file = parseZoneFile(text, "example.org");
  expect(file.ok && finish(findingClashes(file.value.sets)).length).toBe(1_000);
});
