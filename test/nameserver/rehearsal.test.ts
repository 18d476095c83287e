import { afterAll, beforeAll, expect, it } from "vitest";
import { algorithms } from "../../src/core/dnssec/codes.ts";
import { plainSettings } from "../../src/records/model.ts";
import { advanceStage } from "../../src/records/signing/lifecycle/advance-stage.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { isLongRun } from "../rig/long-run.ts";
import { testLimit } from "../rig/patience.ts";
import { parentWith } from "../rig/records/parent-with.ts";
import { signZone, unsignNow } from "../rig/records/sign.ts";
import { createAsk } from "../rig/rehearsal/ask-all.ts";
import { createCachedAnswers } from "../rig/rehearsal/cached-answers.ts";
import { createParentZone, createRegistry } from "../rig/rehearsal/registry.ts";
import { type Moment, rehearse } from "../rig/rehearsal/rehearse.ts";
import type { ResolverName } from "../rig/rehearsal/resolver.ts";
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

/** The long runs play all of them, with a TTL that makes every stage long. */
const longest = isLongRun ? 86_400 : 600;
/** Each name is queried hundreds of times. That answers about these validate stands in `test/nameserver/dnssec`. */
const others = isLongRun
  ? "\nalias 60 CNAME www.elsewhere.net.\na.b.c 60 TXT below\nsub 300 NS ns.sub\nns.sub 300 A 192.0.2.3"
  : "";
const signedWith = [
  { algorithm: algorithms.ecdsap256, denial: "nsec" },
  { algorithm: algorithms.ed25519, denial: "nsec3" },
] as const;

it.each(signedWith.slice(0, isLongRun ? undefined : 1))(
  "no answer is bogus while a zone is signed with $algorithm and $denial, gets other keys and is unsigned",
  { timeout: 20 * testLimit },
  async ({ algorithm, denial }) => {
    const text = `@ 600 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 600 NS ns1\nns1 ${longest} A 192.0.2.1\n*.wild 60 TXT any${others}`;
    const moments: Moment[] = [];
    const resolvers: (ResolverName | undefined)[] = [];
    const outcome = await rehearse({
      zone: { name: "play.org", serial: 1, settings: plainSettings(60) },
      sets: writtenSets("play.org", text),
      algorithm,
      denial,
      resolvers: ["unbound", "delv"],
      path: process.env.PATH ?? "",
      signal: AbortSignal.timeout(20 * testLimit),
      onStart: (resolver) => resolvers.push(resolver),
      onMoment: (moment) => moments.push(moment),
    });
    expect(resolvers).toEqual(["unbound"]);
    expect([...new Set(moments.map(({ stage }) => stage))]).toEqual([
      ...["unsigned", "new", "new-parent", "secure", "roll-show", "roll-parent", "roll-sign", "algorithm-sign"],
      ...["algorithm-show", "algorithm-parent", "algorithm-hide", "leaving"],
    ]);
    expect(moments.at(-1)?.stage).toBe("unsigned");
    expect(outcome).toMatchObject({ ok: true, value: { bogus: 0, failed: 0, examples: [] } });
    if (!outcome.ok) return;
    // unbound is queried continuously while the stages change; how often depends on how busy the machine is.
    expect(outcome.value.asked).toBeGreaterThan(100);
    expect(outcome.value.secure).toBeGreaterThan(50);
    expect(outcome.value.checked).toBeGreaterThan(1_000);
  },
);
