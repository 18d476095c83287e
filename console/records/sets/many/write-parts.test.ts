import { describe, expect, it } from "vitest";
import type { Rrset } from "../../../../src/contract/rrsets.ts";
import { type Request, RequestProblem } from "../../../shared/live/request.ts";
import { type ManyChange, writeInParts, writePart } from "./write-parts.ts";

/** Many sets that are written together, tested without a browser. */

const setOf = (name: string, value = "192.0.2.1"): Rrset => ({
  ...{ id: `${name}/A`, name, type: "A", ttl: 300, labels: {}, protection: { change: false }, zone: 1 },
  records: [{ value, comment: "" }],
});
const deletions = (...sets: readonly Rrset[]): readonly ManyChange[] =>
  sets.map((seen) => ({ id: seen.id, seen, wanted: undefined }));
const many = (count: number) => deletions(...Array.from({ length: count }, (_, i) => setOf(`bulk${i}`)));

describe("many changes", () => {
  it.for([
    [1, [1]],
    [500, [500]],
    [501, [500, 1]],
    [1_200, [500, 500, 200]],
  ] as const)("are written in as few parts as the service takes: %d", async ([count, parts]) => {
    const sent: number[] = [];
    const written = await writeInParts(many(count), async ({ length }) => 40 + sent.push(length));
    expect(sent).toEqual(parts);
    expect(written).toEqual({ serials: parts.map((_, i) => 41 + i), done: count });
  });

  it.for([
    [1, 0, "it is away"],
    [2, 500, "500 record sets done, 100 record sets not. it is away"],
  ] as const)(
    "say how many were written if part %d fails; the earlier ones can be undone",
    async ([bad, done, words]) => {
      let part = 0;
      const written = await writeInParts(many(600), async () => {
        part += 1;
        if (part === bad) throw new Error("it is away");
        return part;
      });
      expect(written).toMatchObject({ serials: bad === 1 ? [] : [1], done });
      expect(written.failure?.message).toBe(words);
    },
  );
});

describe("a write of many sets", () => {
  const [one, two] = [setOf("many1"), setOf("many2")];
  const conflict = new RequestProblem(409, "the zone has changed", "conflict");

  /** Writes the deletion of both: `reads` are the zone at each look, and `answers` what the service says. */
  async function writeBoth(reads: readonly (readonly Rrset[])[], answers: readonly (number | Error)[]) {
    const sent: unknown[] = [];
    const request = (async (_method, path, body) => {
      const answer = answers[sent.push({ path, body }) - 1];
      if (answer instanceof Error) throw answer;
      return { serial: answer };
    }) as Request;
    let looks = 0;
    const readNow = async () => ({ sets: reads[looks] ?? [], asOf: ++looks });
    const serial = await writePart(request, "example.org", deletions(one, two), readNow).catch(String);
    return { sent, serial };
  }

  it("is refused and not sent if one of the sets was changed elsewhere, or deleted", async () => {
    for (const now of [[one, setOf("many2", "192.0.2.222")], [one]]) {
      const { sent, serial } = await writeBoth([now], [7]);
      expect(sent).toEqual([]);
      expect(serial).toContain("Not written, because these were changed elsewhere just now: many2 A.");
    }
  });

  it("is sent again, with the new serial, if only other sets of the zone were changed", async () => {
    const { sent, serial } = await writeBoth(
      [
        [one, two],
        [one, two, setOf("unrelated")],
      ],
      [conflict, 8],
    );
    expect(serial).toBe(8);
    const deleted = ["many1", "many2"].map((name) => ({ name, type: "A", delete: true }));
    expect(sent).toEqual(
      [1, 2].map((expected_serial) => ({
        path: "/v1/zones/example.org/changes",
        body: { changes: deleted, expected_serial },
      })),
    );
  });

  it("gives up if the zone changes each time", async () => {
    const all = Array.from({ length: 9 }, () => [one, two]);
    const { sent, serial } = await writeBoth(
      all,
      all.map(() => conflict),
    );
    expect([sent.length, serial]).toEqual([4, String(conflict)]);
  });

  it("names the set that the service refuses", async () => {
    const refused = new RequestProblem(422, "changes[1].labels.site is not a label value", "invalid_input");
    const { serial } = await writeBoth([[one, two]], [refused]);
    expect(serial).toContain("many2 A: labels.site is not a label value");
  });
});
