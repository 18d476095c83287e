import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { createLog } from "../../process/log.ts";
import { createNotifier, type NotifierOptions, type NotifyLimits } from "./notify-out.ts";

type Sent = { readonly host: string; readonly zone: string };

const limits: NotifyLimits = {
  answer: 20,
  pause: { first: 20, longest: 40 },
  interval: 30,
  atOnce: { changed: 2, unanswered: 2 },
};
/** Longer than any test: what is sent again within it has another reason than its pause. */
const noPause = { first: 3_600_000, longest: 3_600_000 };

function rig(answer: (sent: Sent, count: number) => Promise<void> | void, options: Partial<NotifierOptions> = {}) {
  const sent: Sent[] = [];
  let said = "";
  const log = createLog({
    format: "text",
    write: (line) => {
      said += line;
    },
  });
  const notifier = createNotifier({
    targets: [{ host: "192.0.2.1", port: 53, keyName: undefined }],
    peerOf: async ({ host, port }) => ({ host, port, key: undefined }),
    ask: async ({ host }, { question }, { signal }) => {
      const each = { host, zone: question.name };
      sent.push(each);
      await Promise.race([
        answer(each, sent.length),
        new Promise((_, reject) => signal.addEventListener("abort", reject)),
      ]);
    },
    now: Date.now,
    log,
    limits,
    ...options,
  });
  return { notifier, sent, of: (zone: string) => sent.filter((each) => each.zone === zone).length, said: () => said };
}

const silence = async () => {
  throw new Error("no answer");
};

it("notifies every target immediately", async () => {
  const targets = ["192.0.2.1", "192.0.2.2"].map((host) => ({ host, port: 53, keyName: undefined }));
  const { notifier, sent } = rig(() => {}, { targets });
  notifier.changed("a.example");
  await expect.poll(() => sent.map((each) => each.host)).toEqual(["192.0.2.1", "192.0.2.2"]);
  await notifier.close();
});

it("sends two messages for a burst of changes: one for the first and one for the rest", async () => {
  const apart = 1_000;
  const { notifier, sent } = rig(() => {}, { limits: { ...limits, interval: apart } });
  const begun = performance.now();
  for (let i = 0; i < 100; i++) {
    notifier.changed("a.example");
    if (i % 10 === 0) await nextTurn();
  }
  // On a busy machine the burst may take longer, and needs one more message for each interval.
  const most = 2 + Math.floor((performance.now() - begun) / apart);
  await expect.poll(() => sent.length).toBeGreaterThanOrEqual(2);
  await realPause(1_200, "longer than two messages are apart");
  const burst = sent.length;
  expect(burst).toBeLessThanOrEqual(most);
  notifier.changed("a.example");
  await expect.poll(() => sent.length).toBe(burst + 1);
  await notifier.close();
});

it("repeats a message until it is answered, however often that takes, and logs a silent target and its return once", async () => {
  let isUp = false;
  const { notifier, sent, said, of } = rig(() => (isUp ? undefined : silence()));
  notifier.changed("a.example");
  notifier.changed("b.example");
  await expect.poll(() => of("a.example"), { timeout: 10_000 }).toBeGreaterThan(12);
  await expect.poll(() => of("b.example"), { timeout: 10_000 }).toBeGreaterThan(12);
  expect(said().match(/does not answer NOTIFY/g)).toHaveLength(1);
  isUp = true;
  await expect.poll(said).toContain("answers NOTIFY messages again");
  const before = sent.length;
  await realPause(200, "longer than all pauses");
  expect(sent.length).toBeLessThanOrEqual(before + 1);
  notifier.changed("c.example");
  await expect.poll(() => of("c.example")).toBe(1);
  expect(said().match(/answers NOTIFY messages again/g)).toHaveLength(1);
  await notifier.close();
});

it("the pauses between repeated messages double up to the longest", async () => {
  const { notifier, sent } = rig(silence, { limits: { ...limits, interval: 0, pause: { first: 15, longest: 120 } } });
  const begun = performance.now();
  notifier.changed("a.example");
  // 15 + 30 + 60 + 120 + 120 milliseconds are the least that six messages can take.
  await expect.poll(() => sent.length, { interval: 1, timeout: 10_000 }).toBe(6);
  expect(performance.now() - begun).toBeGreaterThan(340);
  await notifier.close();
});

it("repeats what a silent target missed as soon as it answers for another zone", async () => {
  let isUp = false;
  const { notifier, of } = rig(() => (isUp ? undefined : silence()), { limits: { ...limits, pause: noPause } });
  const missed = Array.from({ length: 20 }, (_, i) => `missed${i}.example`);
  for (const zone of missed) {
    notifier.changed(zone);
    await expect.poll(() => of(zone)).toBe(1);
  }
  isUp = true;
  notifier.changed("other.example");
  await expect.poll(() => missed.map(of)).toEqual(missed.map(() => 2));
  await notifier.close();
});

it("zones that a target ignores do not delay changes of others, and are not repeated at each of their answers", async () => {
  const { notifier, sent, of } = rig(({ zone }) => (zone.startsWith("ignored") ? new Promise(() => {}) : undefined), {
    limits: { ...limits, interval: 0, pause: { first: 1, longest: 1 } },
    ask: async (_, { question: { name: zone } }) => {
      sent.push({ host: "", zone });
      if (!zone.startsWith("ignored")) return;
      await nextTurn();
      throw new Error("no answer");
    },
  });
  for (let i = 0; i < 50; i++) notifier.changed(`ignored${i}.example`);
  await expect.poll(() => of("ignored49.example")).toBeGreaterThan(3);
  for (let i = 0; i < 20; i++) {
    notifier.changed("good.example");
    const before = sent.length;
    await expect.poll(() => of("good.example"), { interval: 1 }).toBe(i + 1);
    // Those that were under way, and one round of the waiting ones at most.
    expect(sent.findLastIndex(({ zone }) => zone === "good.example")).toBeLessThan(before + 5);
  }
  await notifier.close();
});

it("a deleted zone is not sent again", async () => {
  const { notifier, of } = rig(silence);
  notifier.changed("a.example");
  notifier.changed("b.example");
  await expect.poll(() => of("a.example")).toBeGreaterThan(1);
  notifier.deleted("a.example");
  const last = of("a.example");
  const before = of("b.example");
  await expect.poll(() => of("b.example")).toBeGreaterThan(before + 5);
  expect(of("a.example")).toBe(last);
  await notifier.close();
});

it("sends messages about many zones a few at a time", async () => {
  let open = 0;
  let most = 0;
  const { notifier, sent } = rig(
    async () => {
      most = Math.max(most, ++open);
      await nextTurn();
      open -= 1;
    },
    { limits: { ...limits, interval: 0, atOnce: { changed: 3, unanswered: 1 } } },
  );
  for (let i = 0; i < 50; i++) notifier.changed(`z${i}.example`);
  await expect.poll(() => sent.length).toBe(50);
  expect(most).toBe(3);
  expect(new Set(sent.map((each) => each.zone)).size).toBe(50);
  await notifier.close();
});

it("stops immediately while it waits for an answer, and for the next message", async () => {
  const { notifier, sent } = rig(({ zone }) => (zone === "a.example" ? new Promise<void>(() => {}) : silence()));
  notifier.changed("a.example");
  notifier.changed("b.example");
  await expect.poll(() => sent.length).toBeGreaterThan(3);
  await notifier.close();
  const before = sent.length;
  notifier.changed("c.example");
  await realPause(100, "longer than all pauses");
  expect(sent.length).toBe(before);
});

it("logs that a key does not exist, and notifies when it does", async () => {
  let hasKey = false;
  const { notifier, sent, said } = rig(() => {}, {
    targets: [{ host: "192.0.2.1", port: 53, keyName: "gone" }],
    peerOf: async ({ host, port }) => (hasKey ? { host, port, key: undefined } : undefined),
  });
  notifier.changed("a.example");
  await expect.poll(said).toContain("there is no transfer key gone");
  expect(sent).toEqual([]);
  hasKey = true;
  await expect.poll(() => sent.length).toBe(1);
  await notifier.close();
});
