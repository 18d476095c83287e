import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, post, put, newZone } = v1Service();

const writers = 16;
const rounds = 4;
type Wire = { id: string; type: string; name: string; value: string };

const recordsOf = async (id: string): Promise<readonly Wire[]> =>
  (await call("GET", `/api/v1/records?zone_id=${id}`)).json.records;
const serialIn = (records: readonly Wire[]) =>
  Number(records.find((record) => record.type === "SOA")?.value.split(" ")[2]);

describe("16 writers on one zone", () => {
  it("lose and duplicate no record; the serial rises once per write that changes something", async () => {
    const zone = await newZone();
    const before = serialIn(await recordsOf(zone.id));
    let changes = 0;
    const statuses: number[] = [];
    const write = async (writer: number) => {
      for (let round = 0; round < rounds; round += 1) {
        // Four writers share a name, so that each write meets what the others have just written.
        const body = { zone_id: zone.id, type: "A", name: `pool${writer % 4}`, value: `10.0.${writer}.${round}` };
        const made = await post("/api/v1/records", body);
        const path = `/api/v1/records/${made.json.record.id}`;
        const changed = await put(path, { ...body, value: `10.1.${writer}.${round}` });
        const same = await put(path, { ...body, value: `10.1.${writer}.${round}` });
        const twice = await post("/api/v1/records", { ...body, value: `10.1.${writer}.${round}` });
        statuses.push(made.status, changed.status, same.status, twice.status - 222);
        changes += 2;
        if (round % 4 === 3) {
          statuses.push((await call("DELETE", path)).status);
          changes += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const after = await recordsOf(zone.id);
    const kept = after.filter((record) => record.type === "A");
    const expected = Array.from({ length: writers }, (_, writer) =>
      Array.from({ length: rounds }, (_, round) => (round % 4 === 3 ? [] : [`10.1.${writer}.${round}`])).flat(),
    ).flat();
    expect(kept.map((record) => record.value).sort()).toEqual(expected.sort());
    expect(new Set(kept.map((record) => record.id)).size).toBe(expected.length);
    // The last two digits count the changes of the day; after 99 they carry over into the date.
    expect(serialIn(after) - before).toBe(changes);
    expect((await call("GET", `/api/v1/zones/${zone.id}`)).json.zone.records_count).toBe(expected.length + 1);
  });

  it("create a record only once if two want the same", async () => {
    const zone = await newZone();
    const body = { zone_id: zone.id, type: "A", name: "www", value: "192.0.2.1" };
    const answers = await Promise.all(Array.from({ length: writers }, () => post("/api/v1/records", body)));
    const counts = Map.groupBy(answers, (answer) => answer.status);
    expect([counts.get(200)?.length, counts.get(422)?.length]).toEqual([1, writers - 1]);
  });
});
