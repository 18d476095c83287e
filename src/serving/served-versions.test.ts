import { describe, expect, it } from "vitest";
import type { LoggedRow } from "../records/model.ts";
import { ServedVersions } from "./served-versions.ts";

/**
 * `a11`: zone a, serial 11; `a11*`: not signed yet; `A11<3`: signatures of zone a through position 3, `A11`: of
 * everything before; `x11`: zone x ends.
 */
function rowsOf(text: string, start = 0): readonly LoggedRow[] {
  return text.split(" ").map((word, i) => {
    const [, letter = "", serial, mark, place] = /^(\w)(\d+)([*<]?)(?:(\d+)<)?/.exec(word) ?? [];
    const through = /<(\d+)$/.exec(word)?.[1];
    const after = word.includes("<") ? Number(place ?? 0) : undefined;
    const set = {
      kind: letter === "x" ? "delete" : "replace",
      owner: letter === "x" ? "@" : "w",
      type: letter === "x" ? "SOA" : "A",
    };
    const change =
      letter === "A" || letter === "X"
        ? { kind: "signatures", sets: [], ...(through && { through: Number(through), after }) }
        : { ...set, ...(mark === "*" && { unsigned: true }) };
    return {
      position: start + i + 1,
      zone: letter.toLowerCase() === "x" ? 24 : letter.toLowerCase().charCodeAt(0),
      zoneName: letter.toLowerCase(),
      serial: Number(serial),
      change,
    } as unknown as LoggedRow;
  });
}

/** The positions of each version's rows; `?` if rows are missing. */
const shown = (versions: ReturnType<ServedVersions["take"]>) =>
  versions.map(({ rows, isWhole }) => `${rows.map(({ position }) => position).join(" ")}${isWhole ? "" : " ?"}`);

describe("versions of zones", () => {
  it.each([
    ["each write to a zone that is not signed is a version", "a1 a1 a2 b7", ["1 2", "3", "4"]],
    ["writes that were signed in their transaction are one", "a1 a2 A2 a3 A3", ["1 2 3", "4 5"]],
    ["changes wait for their signatures", "a1* b7 a2* A2<3", ["2", "1 3 4"]],
    ["what is not signed yet waits for the next signatures", "a1* a2* A1<1 a3* A3<4", ["1 3", "2 4 5"]],
    ["signatures without a place are of everything before them", "a1* a2* a3 A3", ["1 2 3 4"]],
    ["what is not signed is not a version", "a1* a2*", []],
    ["the end of a zone is one, and nothing of it waits any longer", "x1* x2", ["2"]],
  ])("%s: %s", (_, text, expected) => {
    const versions = new ServedVersions();
    expect(shown(versions.take(rowsOf(text)))).toEqual(expected);
  });

  it("keeps changes for later rows", () => {
    const versions = new ServedVersions();
    expect(shown(versions.take(rowsOf("a1*")))).toEqual([]);
    expect(shown(versions.take(rowsOf("b7 A1<1", 1)))).toEqual(["2", "1 3"]);
  });

  it("tells that rows are missing: those before the first, and those that are too many to keep", () => {
    const late = new ServedVersions();
    expect(shown(late.take(rowsOf("a2* A2<11", 10)))).toEqual(["11 12 ?"]);
    const many = new ServedVersions();
    many.take(rowsOf(Array.from({ length: 1_500 }, (_, i) => `a${i}*`).join(" ")));
    const [version] = many.take(rowsOf("A1499<1500", 1_500));
    expect(version?.isWhole).toBe(false);
    expect(shown(many.take(rowsOf("a1500* A1500<1501<1502", 1_501)))).toEqual(["1502 1503"]);
  });
});
