import { expect, it } from "vitest";
import type { RecordStore } from "../records/store/port.ts";
import { keyOfZone, secondaryPorts } from "./secondaries.ts";

it("what anybody can send, a NOTIFY or the name of a key, looks for one zone by its own name, and for none above it", async () => {
  const asked: string[] = [];
  // Nothing else of the store may be asked.
  const store = { zoneNamed: async (name: string) => void asked.push(name) } as unknown as RecordStore;
  const name = Array.from({ length: 127 }, () => "a").join(".");
  expect(await secondaryPorts(store, []).secondaryZone(name)).toBe(undefined);
  expect(await keyOfZone(store, name)).toBe(undefined);
  expect(asked).toEqual([name, name]);
});
