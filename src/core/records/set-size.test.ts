import { describe, expect, it } from "vitest";
import type { RecordType } from "../rdata/table.ts";
import { isTooLarge } from "./set-size.ts";

const setOf = (type: RecordType, values: readonly string[]) => ({
  type,
  records: values.map((rdata, i) => ({
    id: String(i),
    name: "x",
    value: rdata,
    rdata,
    comment: "",
    created: 0,
    modified: 0,
  })),
});
const many = <T>(count: number, value: (i: number) => T) => Array.from({ length: count }, (_, i) => value(i));
const text = (i: number, length: number) => `"${String(i).padStart(5, "0")}${"x".repeat(length - 5)}"`;

describe("a set that no DNS message could hold", () => {
  it.each([
    [
      "4,078 addresses",
      setOf(
        "A",
        many(4_078, (i) => `10.0.${i >> 8}.${i & 255}`),
      ),
      false,
    ],
    [
      "4,079 addresses",
      setOf(
        "A",
        many(4_079, (i) => `10.0.${i >> 8}.${i & 255}`),
      ),
      true,
    ],
    [
      "2,330 IPv6 addresses",
      setOf(
        "AAAA",
        many(2_330, (i) => `2001:db8::${i.toString(16)}`),
      ),
      false,
    ],
    [
      "2,331 IPv6 addresses",
      setOf(
        "AAAA",
        many(2_331, (i) => `2001:db8::${i.toString(16)}`),
      ),
      true,
    ],
    [
      "243 long texts",
      setOf(
        "TXT",
        many(243, (i) => text(i, 255)),
      ),
      false,
    ],
    [
      "244 long texts",
      setOf(
        "TXT",
        many(244, (i) => text(i, 255)),
      ),
      true,
    ],
    [
      "2,700 names, of which each needs only its first label and a pointer",
      setOf(
        "PTR",
        many(2_700, (i) => `host-${1_000 + i}.example.org.`),
      ),
      false,
    ],
    [
      "2,800 such names",
      setOf(
        "PTR",
        many(2_800, (i) => `host-${1_000 + i}.example.org.`),
      ),
      true,
    ],
    [
      "900 long names of mail servers",
      setOf(
        "MX",
        many(900, (i) => `10 ${String(i).padStart(60, "x")}.example.org.`),
      ),
      true,
    ],
    [
      "4,000 preferences of one",
      setOf(
        "MX",
        many(4_000, (i) => `${i} ${"x".repeat(60)}.example.org.`),
      ),
      false,
    ],
    ["none", setOf("A", []), false],
  ])("%s", (_, set, tooLarge) => {
    expect(isTooLarge(set)).toBe(tooLarge);
  });
});
