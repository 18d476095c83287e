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

it("who waits until a zone is signed does not wait for what is written later", async () => {
  const step = {
    ...{ zone: { name: "z.example" }, after: 0, through: 1, at: { now: 1, until: undefined } },
    namePlans: [],
  };
  let position = 0;
  const note = () => follower.note([{ ...written(1), position: ++position }]);
  const store: FollowedStore = {
    behind: async () => [],
    plan: () =>
      ({ ...step, namesSwitch: undefined, row: () => undefined }) as unknown as Awaited<
        ReturnType<FollowedStore["plan"]>
      >,
    // There is always more.
    commit: async () => note(),
    signAside: async () => undefined,
  };
  const follower = new SigningFollower(store, {} as Signer);
  note();
  await follower.idle(1);
  await follower.idle();
  expect(position).toBeGreaterThan(1);
  follower.close();
});
