import { expect, it } from "vitest";
import { until } from "../../../../test/rig/until.ts";
import type { LoggedRow } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import { type FollowedStore, SigningFollower } from "./signing-follower.ts";

const written = (zone: number): LoggedRow => ({
  position: zone,
  account: 1,
  zone,
  zoneName: `z${zone}.example`,
  serial: 2,
  at: 1,
  actor: "tester",
  change: { kind: "signing", owners: ["@"], unsigned: true },
});

it("large zones that are signed for long do not delay others", async () => {
  const large = 20;
  const planned: number[] = [];
  const never = Promise.withResolvers<undefined>();
  const store: FollowedStore = {
    behind: async () => [],
    plan: (zone) => {
      planned.push(zone);
      return zone <= large ? "whole" : undefined;
    },
    commit: async () => undefined,
    signAside: () => never.promise,
  };
  const follower = new SigningFollower(store, {} as Signer);
  follower.note(Array.from({ length: large + 5 }, (_, i) => written(i + 1)));
  await until(() => planned.length === large + 5, { limit: 2_000, what: () => "every zone to be planned" });
  follower.close();
  expect(planned.slice(large).every((zone) => zone > large)).toBe(true);
});
