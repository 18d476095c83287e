import { expect, it } from "vitest";
import type { Delegation } from "../../lib/dns/delegation.ts";
import { createDelegationChecks } from "./delegation.ts";

const own = ["ns1.example.net", "ns2.example.net"];

it.for<[Delegation, string]>([
  [{ kind: "delegated", servers: own }, "valid"],
  [{ kind: "delegated", servers: ["ns1.example.net"] }, "partial"],
  [{ kind: "delegated", servers: [...own, "ns.old.example"] }, "partial"],
  [{ kind: "delegated", servers: ["ns.old.example"] }, "elsewhere"],
  [{ kind: "none" }, "none"],
  [{ kind: "unknown", because: "silence" }, "unknown"],
])("the delegation %j has the status %s", async ([found, status]) => {
  const check = createDelegationChecks(
    async () => found,
    own,
    () => 0,
  );
  expect(await check("example.org", 1)).toMatchObject({ status });
});

it("asks about a zone once in half a minute, and about few zones at a time", async () => {
  let now = 0;
  const asked: string[] = [];
  const answer = Promise.withResolvers<Delegation>();
  const check = createDelegationChecks(
    (zone) => {
      asked.push(zone);
      return answer.promise;
    },
    own,
    () => now,
  );
  const both = [check("a.example", 1), check("a.example", 1), check("b.example", 1)];
  expect(await check("c.example", 1)).toMatchObject({ status: "unknown" });
  const others = Array.from({ length: 9 }, (_, i) => check(`z${i}.example`, i + 2));
  answer.resolve({ kind: "none" });
  const all = await Promise.all([...both, ...others]);
  expect(all.filter(({ status }) => status === "unknown")).toHaveLength(3);
  expect(asked).toHaveLength(8);
  await check("a.example", 1);
  expect(asked).toHaveLength(8);
  now = 30_000;
  await check("a.example", 1);
  expect(asked.at(-1)).toBe("a.example");
});
