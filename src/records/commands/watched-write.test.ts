import { expect, it } from "vitest";
import { until } from "../../../test/rig/until.ts";
import { wholeAccount } from "../../core/may.ts";
import { createRecordService } from "../service.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";

const now = Date.now;

/** A service whose writes wait until they may go on. */
async function slowService() {
  const store = openSqliteStore(":memory:");
  const gate = Promise.withResolvers<void>();
  const run: typeof store.run = async (...command) => {
    await gate.promise;
    return await store.run(...command);
  };
  const options = { now, nameservers: ["ns1.example.net"] as const, answerAfter: 1 };
  const { id: account } = await store.ensureAccount("main", 1);
  const actor = { account, label: "tester", scope: wholeAccount };
  const name = "slow.example";
  await createRecordService({ store, ...options }).createZone(actor, { name, ttl: 60 });
  const service = createRecordService({ store: { ...store, run }, ...options });
  const statusOf = async (id: number | undefined) =>
    (await service.actions(actor, { ids: [id ?? 0], page: 1, perPage: 1 })).items[0];
  return { service, actor, at: { name }, statusOf, goOn: gate.resolve, fail: gate.reject };
}

it("answers a long write with an action that is running, and ends with the write", async () => {
  const { service, actor, at, statusOf, goOn } = await slowService();
  const written = await service.changeZoneTtl(actor, at, 120);
  if (written.kind !== "done") throw new Error("refused");
  expect(written.action).toMatchObject({ command: "change_ttl", status: "running" });
  expect(await statusOf(written.action?.id)).toMatchObject({ status: "running" });
  goOn();
  await until(async () => (await statusOf(written.action?.id))?.status === undefined);
  expect((await service.zone(actor, at))?.settings.ttl).toBe(120);
  expect((await service.actions(actor, { page: 1, perPage: 9 })).total).toBe(1);
});

it("says in the action why the write failed", async () => {
  const { service, actor, at, statusOf, fail } = await slowService();
  const written = await service.changeZoneTtl(actor, at, 120);
  if (written.kind !== "done") throw new Error("refused");
  fail(new Error("the disk is full"));
  await until(async () => (await statusOf(written.action?.id))?.status === "error");
  expect(await statusOf(written.action?.id)).toMatchObject({ error: "the disk is full" });
});

it("answers who waits for the provider when the write has ended, and not with a running action", async () => {
  const { service, actor, at, goOn } = await slowService();
  const waiting = { ...actor, scope: { ...wholeAccount, confirm: "provider" as const } };
  const written = service.changeZoneTtl(waiting, at, 120);
  // It began later.
  expect(await service.changeZoneTtl(actor, at, 180)).toMatchObject({ action: { status: "running" } });
  expect((await service.actions(actor, { page: 1, perPage: 9 })).total).toBe(1);
  goOn();
  expect(await written).toMatchObject({ kind: "done", action: { command: "change_ttl" } });
  expect(await written).not.toHaveProperty("action.status");
});
