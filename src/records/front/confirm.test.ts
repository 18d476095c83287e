import { expect, test } from "vitest";
import { wholeAccount } from "../../core/may.ts";
import { type LoggedRow, type Publication, plainSettings, type Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { confirming } from "./confirm.ts";

const settings = { ...plainSettings(300), published: { service: "Hetzner" } as Publication };
const actor = { account: 1, label: "test", scope: { ...wholeAccount, confirm: "provider" } };
const nameOf = (at: number) => `n${at}`;

/** A write of 12,000 sets, all but the last of which are published. */
function rig(zones: readonly (Zone | undefined)[], result: object = { kind: "done" }) {
  const log = Array.from({ length: 12_000 }, (_, at) => {
    const change = { kind: "create", owner: nameOf(at), type: "A" };
    return { position: at + 1, zone: 7, serial: 2, actor: "test", change } as unknown as LoggedRow;
  });
  const left = [...zones];
  const set = (owner: string) => ({ owner, type: "A", ttl: 300, records: [{ rdata: "192.0.2.1" }] });
  const row = (owner: string) => ({ owner, type: "A", held: { ttl: 300, values: ["192.0.2.1"] }, at: 1 });
  const store = {
    lastChange: async () => 0,
    publishedZones: async () => [[zone]],
    run: async () => ({ result }),
    changesAfter: async (after: number, limit: number) => log.slice(after, after + limit),
    zoneBy: async () => (left.length > 1 ? left.shift() : left[0]),
    publishedZone: async () => ({ ttl: 300 }),
    sets: async (_: Zone, { owners }: { owners: readonly string[] }) => owners.map(set),
    publishedSetsAt: async (_: number, owners: readonly string[]) =>
      owners.filter((owner) => owner !== nameOf(11_999)).map(row),
  } as unknown as RecordStore;
  const confirmed = confirming(store, { onPublished: () => () => {}, longest: 1 });
  return () => confirmed.run({ kind: "x", actor } as never, {} as never);
}

const zone = { number: 7, name: "one.example", settings } as Zone;

test("a large write is confirmed when all of its sets are published", async () => {
  await expect(rig([zone])()).rejects.toThrow("not at the provider after");
});

test("a write is not confirmed if its zone is unpublished or deleted meanwhile", async () => {
  const unpublished = { ...zone, settings: plainSettings(300) };
  for (const later of [unpublished, undefined]) await expect(rig([later])()).rejects.toThrow("no longer published");
});

test("a write that was refused is answered with its reason, and not with the state of what was written before", async () => {
  for (const kind of ["refused", "denied", "missing"])
    expect(await rig([zone], { kind })()).toEqual({ result: { kind } });
});
