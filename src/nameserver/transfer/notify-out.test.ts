import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { createLog } from "../../process/log.ts";
import { createNotifier, type NotifierOptions } from "./notify-out.ts";

type Sent = { readonly host: string; readonly zone: string };

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
    limits: { tries: [20, 20, 20], interval: 30, atOnce: 2 },
    ...options,
  });
  return { notifier, sent, said: () => said };
}

it("notifies every target immediately", async () => {
  const targets = ["192.0.2.1", "192.0.2.2"].map((host) => ({ host, port: 53, keyName: undefined }));
  const { notifier, sent } = rig(() => {}, { targets });
  notifier.changed("a.example");
  await expect.poll(() => sent.map((each) => each.host)).toEqual(["192.0.2.1", "192.0.2.2"]);
  await notifier.close();
});

it("sends two messages for a burst of changes: one for the first and one for the rest", async () => {
  const apart = 1_000;
  const { notifier, sent } = rig(() => {}, { limits: { tries: [20], interval: apart, atOnce: 2 } });
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

it("repeats a message until it is answered, and logs a silent target once", async () => {
  const { notifier, sent, said } = rig(async (_, count) => {
    if (count < 3) throw new Error("no answer");
  });
  notifier.changed("a.example");
  await expect.poll(() => sent.length).toBe(3);
  await realPause(150, "longer than all tries");
  expect(sent.length).toBe(3);
  expect(said()).toBe("");
  await notifier.close();

  const silent = rig(async () => {
    throw new Error("no answer");
  });
  silent.notifier.changed("a.example");
  await expect.poll(silent.said).toContain("does not answer NOTIFY");
  silent.notifier.changed("b.example");
  await expect.poll(() => silent.sent.length).toBe(6);
  await realPause(150, "longer than all tries");
  expect(silent.sent.length).toBe(6);
  expect(silent.said().match(/does not answer NOTIFY/g)).toHaveLength(1);
  await silent.notifier.close();
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
    { limits: { tries: [100], interval: 0, atOnce: 3 } },
  );
  for (let i = 0; i < 50; i++) notifier.changed(`z${i}.example`);
  await expect.poll(() => sent.length).toBe(50);
  expect(most).toBe(3);
  expect(new Set(sent.map((each) => each.zone)).size).toBe(50);
  await notifier.close();
});

it("stops immediately while it waits for an answer", async () => {
  const { notifier, sent } = rig(() => new Promise<void>(() => {}));
  notifier.changed("a.example");
  await expect.poll(() => sent.length).toBe(1);
  await notifier.close();
  notifier.changed("b.example");
  expect(sent.length).toBe(1);
});

it("logs that a key does not exist", async () => {
  const { notifier, sent, said } = rig(() => {}, {
    targets: [{ host: "192.0.2.1", port: 53, keyName: "gone" }],
    peerOf: async () => undefined,
  });
  notifier.changed("a.example");
  await expect.poll(said).toContain("there is no transfer key gone");
  expect(sent).toEqual([]);
  await notifier.close();
});

it("repeats a message on time after the clock was set back", async () => {
  let clock = Date.now();
  const noAnswer = async () => {
    clock -= 3_600_000;
    throw new Error("no answer");
  };
  const { notifier, sent } = rig(noAnswer, { now: () => clock });
  notifier.changed("a.example");
  await expect.poll(() => sent.length).toBe(3);
  await notifier.close();
});
