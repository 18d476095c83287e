import { expect, it } from "vitest";
import { withHigherTtls } from "./higher-ttls.ts";

const set = (owner: string, ttl: number | null) => ({ owner, type: "A", ttl }) as const;

it("short TTLs are raised and named, five at most; what has such a TTL already keeps it", () => {
  const sets = [
    set("own", 30),
    set("high", 60),
    set("none", null),
    ..."abcdef".split("").map((owner) => set(owner, 5)),
  ];
  const higher = withHigherTtls({ ttl: 10, sets }, 60, [set("own", 30), set("a", 4)]);
  expect(higher.ttl).toBe(60);
  expect(higher.sets.map(({ ttl }) => ttl)).toEqual([30, 60, null, 60, 60, 60, 60, 60, 60]);
  expect(higher.raised).toEqual(["TTLs below 60 seconds are raised to 60: the default, a A, b A, c A, d A, 2 more"]);
  expect(withHigherTtls({ ttl: undefined, sets: [set("own", 30)] }, 60, [set("own", 30)]).raised).toEqual([]);
});
