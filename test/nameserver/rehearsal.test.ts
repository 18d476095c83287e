import { afterAll, beforeAll, expect, it } from "vitest";
import { advanceStage } from "../../src/records/signing/lifecycle/advance-stage.ts";
import { createAsk } from "../../src/serving/rehearsal/ask-all.ts";
import { createCachedAnswers } from "../../src/serving/rehearsal/cached-answers.ts";
import { createParentZone, createRegistry } from "../../src/serving/rehearsal/registry.ts";
import { parentWith } from "../rig/records/parent-with.ts";
import { signZone, unsignNow } from "../rig/records/sign.ts";
import { type MoorDns, startMoorDns } from "./moor-dns.ts";

let moor: MoorDns;
beforeAll(async () => {
  moor = await startMoorDns();
});
afterAll(() => moor?.close());

it("a rehearsal finds what a resolver with older cached answers rejects, as long as it can have them cached", async () => {
  const hour = 3_600_000;
  const zone = await moor.makeZone("play.example", "@ 300 NS ns1\nns1 300 A 192.0.2.1");
  const parent = await createParentZone(moor.store, zone.account, zone, ["ns1.play.example."], 0);
  const ask = createAsk(moor.port, AbortSignal.timeout(600_000));
  const registry = createRegistry(moor.store, parent, zone.name, ask);
  const cached = createCachedAnswers(zone.name, [{ name: "ns1.play.example", type: 1 }], ask);
  const start = Date.now();
  const bogusAt = (now: number) => cached.check(now).bogus.length > 0;
  const signWith = async (now: number) => {
    const by = { store: moor.store, actor: "test", now };
    expect(await signZone(by, zone, { algorithm: 13, denial: "nsec" }, moor.signer)).toMatchObject({ ok: true });
    const signed = (await moor.store.zoneHolding(zone.name)) ?? zone;
    await advanceStage({ ...by, now: now + 1.1 * hour }, signed, parentWith([]), 300);
    await registry.visit(now);
    await registry.visit(now + hour);
    await cached.update(now + hour);
  };

  await signWith(start);
  expect(registry.tags()).toHaveLength(1);
  expect(bogusAt(start + hour)).toBe(false);
  // The key is replaced everywhere at the same moment: older DS records and keys do not match.
  const changed = start + 30 * hour;
  const by = { store: moor.store, actor: "test", now: changed };
  expect(await unsignNow(by, zone)).toMatchObject({ ok: true });
  await signWith(changed);
  expect([1.1, 2, 24].map((hours) => bogusAt(changed + hours * hour))).toEqual([true, true, true]);
  expect(bogusAt(changed + 25.1 * hour)).toBe(false);
  // Unsigned while the parent has the DS record.
  expect(await unsignNow({ ...by, now: changed + 60 * hour }, zone)).toMatchObject({ ok: true });
  await cached.update(changed + 60 * hour);
  expect(bogusAt(changed + 60 * hour)).toBe(true);
  // Signatures that expired.
  expect(bogusAt(changed + 400 * hour)).toBe(true);
});
