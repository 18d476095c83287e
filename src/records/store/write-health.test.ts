import { expect, it } from "vitest";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { RecordStore } from "./port.ts";
import { watchWrites } from "./write-health.ts";

it("a store that could not write is not well until a write succeeds, or half a minute is over", async () => {
  let [now, error] = [0, undefined as Error | undefined];
  const run = (async () => {
    if (error) throw error;
  }) as unknown as RecordStore["run"];
  const store = watchWrites({ run, checkHealth: async () => "well" }, () => now);
  const write = async (fails?: Error) => {
    error = fails;
    await store.run({ kind: "test", parts: 1 }, () => ({}) as never).catch(() => undefined);
  };
  const full = new StoreBusy("the disk is full", { isUnable: true });
  await write(new StoreBusy("too many writes are waiting"));
  expect(await store.checkHealth()).toBe("well");
  await write(full);
  await expect(store.checkHealth()).rejects.toBe(full);
  await write();
  expect(await store.checkHealth()).toBe("well");
  await write(full);
  now = 30_000;
  expect(await store.checkHealth()).toBe("well");
});
