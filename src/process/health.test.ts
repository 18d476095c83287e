import { describe, expect, it } from "vitest";
import { createHealth, withoutReasons } from "./health.ts";

describe("whether a service is ready", () => {
  it("is, while all of its parts are", async () => {
    let [at, trouble] = [0, undefined as string | undefined];
    const health = createHealth(() => at);
    health.add("store", async () => undefined);
    health.add("certificate", () => trouble);
    expect(await health.look()).toEqual({
      ready: true,
      parts: { store: { ok: true }, certificate: { ok: true }, running: { ok: true } },
    });
    trouble = "it ended yesterday";
    at += 1_000;
    const now = await health.look();
    expect(now).toMatchObject({ ready: false, parts: { certificate: { ok: false, because: "it ended yesterday" } } });
    expect(JSON.stringify(withoutReasons(now))).not.toContain("yesterday");
    expect(withoutReasons(now).parts.certificate).toEqual({ ok: false });
  });

  it("is not when a part cannot say, or says nothing in time", async () => {
    const health = createHealth();
    health.add("store", () => Promise.reject(new Error("the disk is gone")));
    health.add("log", () => new Promise(() => undefined));
    expect(await health.look()).toMatchObject({
      ready: false,
      parts: { store: { because: "the disk is gone" }, log: { because: "no answer within 2 s" } },
    });
  });

  it("is not from the moment it stops, though its parts still are", async () => {
    const health = createHealth();
    health.add("store", () => undefined);
    expect((await health.look()).ready).toBe(true);
    health.stop();
    expect(await health.look()).toMatchObject({
      ready: false,
      parts: { running: { because: "the service is stopping" } },
    });
  });

  it("checks once for many requests at the same time", async () => {
    let looks = 0;
    const health = createHealth(() => 0);
    health.add("store", async () => void looks++);
    await Promise.all(Array.from({ length: 50 }, () => health.look()));
    expect(looks).toBe(1);
  });
});
