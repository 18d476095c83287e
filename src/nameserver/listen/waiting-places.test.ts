import { expect, it } from "vitest";
import { createWaitingPlaces } from "./waiting-places.ts";

it("a network has its share of the places, and the others keep theirs", () => {
  const places = createWaitingPlaces({ all: 10, network: 3 });
  const left = ["192.0.2.1", "192.0.2.2", "192.0.2.1"].map(places.take);
  // An address of the same network, however it is written.
  expect(["192.0.2.9", "::ffff:192.0.2.7", "198.51.100.1", "2001:db8::1"].map(places.isFreeFor)).toEqual([
    ...[false, false, true, true],
  ]);
  left[0]?.();
  expect(places.isFreeFor("192.0.2.9")).toBe(true);
});

it("all networks together have no more than all places", () => {
  const places = createWaitingPlaces({ all: 4, network: 3 });
  const left = [1, 2, 3, 4].map((i) => places.take(`10.0.${i}.1`));
  expect(places.isFreeFor("192.0.2.1")).toBe(false);
  for (const leave of left) leave();
  expect(["192.0.2.1", "10.0.1.1"].map(places.isFreeFor)).toEqual([true, true]);
});
