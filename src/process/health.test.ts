import { describe, expect, it } from "vitest";
import { createHealth, withoutReasons } from "./health.ts";

describe("a service", () => {
  it("is ready while all of its parts are well", async () => {
    let [at, trouble] = [0, undefined as string | undefined];
    const health = createHealth(() => at);
    health.add("store", async () => undefined);
    health.add("certificate", () => trouble);
    expect(await health.readiness()).toEqual({
      ready: true,
      parts: { store: { ok: true }, certificate: { ok: true }, running: { ok: true } },
    });
    trouble = "it ended yesterday";
    at += 1_000;
    const now = await health.readiness();
    expect(now).toMatchObject({ ready: false, parts: { certificate: { ok: false, because: "it ended yesterday" } } });
    expect(JSON.stringify(withoutReasons(now))).not.toContain("yesterday");
    expect(withoutReasons(now).parts.certificate).toEqual({ ok: false });
  });

  it("is not ready if the check of a part fails or takes too long", async () => {
    const health = createHealth();
    health.add("store", () => Promise.reject(new Error("the disk is gone")));
    health.add("log", () => new Promise(() => undefined));
    expect(await health.readiness()).toMatchObject({
      ready: false,
      parts: { store: { because: "the disk is gone" }, log: { because: "no answer within 2 s" } },
    });
  });

  it("is ready despite the trouble of a part that it does not need for requests, and shows it", async () => {
    const health = createHealth();
    health.add("keys", () => "the key file is missing", { isNeeded: false });
    expect(await health.readiness()).toMatchObject({ ready: true, parts: { keys: { ok: false } } });
  });

  it("is not ready once it is stopping, even if its parts are well", async () => {
    const health = createHealth();
    health.add("store", () => undefined);
    expect((await health.readiness()).ready).toBe(true);
    health.stop();
    expect(await health.readiness()).toMatchObject({
      ready: false,
      parts: { running: { because: "the service is stopping" } },
    });
  });

  it("checks its parts once for many simultaneous requests", async () => {
    let checks = 0;
    const health = createHealth(() => 0);
    health.add("store", async () => void checks++);
    await Promise.all(Array.from({ length: 50 }, () => health.readiness()));
    expect(checks).toBe(1);
  });
});
