import { expect, it } from "vitest";
import { isLongRun } from "../../test/rig/long-run.ts";
import { until } from "../../test/rig/until.ts";
import { openLoop } from "../../test/rig/updater/loop.ts";
import { changesService, setService, startServer, type TestRecord } from "../../test/rig/updater/services.ts";

const perTarget = isLongRun ? 200 : 40;

/** A record service with 200 names. `isTogether`: it accepts many changes in one request. */
async function startTarget(title: string, isTogether: boolean) {
  const names = Array.from({ length: perTarget }, (_, i) => `${title}${i}`);
  const records = names.map((name): TestRecord => ({ id: name, name, type: "A", value: "192.0.2.1", zone_id: "z1" }));
  const reply = setService(records, isTogether ? changesService(records) : undefined);
  let gate: Promise<void> | undefined;
  const server = await startServer(async (asked) => {
    await gate;
    return reply(asked);
  });
  return {
    title,
    names,
    server,
    /** Answers nothing until the returned function is called. */
    shut(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    holding: (address: string) => records.filter(({ value }) => value === address).length,
  };
}

it("of many names at five targets, those of a target that does not answer delay none of the others", async () => {
  const targets = await Promise.all(
    ["slow", "alone", "a", "b", "c"].map((title) => startTarget(title, title.length === 1)),
  );
  const [slow, ...quick] = targets;
  if (!slow) throw new Error("no target");
  const settings = "token: { file: t }, timeout: 5m";
  const entries = targets.map(({ title, server }) => `${title}: { api: rrsets, url: "${server.url}", ${settings} }`);
  const names = targets.flatMap(({ title, names: own }) =>
    own.map((name) => `  - { name: ${name}, zone: example.org, ipv4: wan0, target: ${title} }`),
  );
  const loop = await openLoop(names.join("\n"), () => 0, {
    target: `timeout: 5m }, ${entries.join(", ").slice(0, -2)}`,
  });
  const right = () => targets.map(({ holding }) => holding("9.9.9.9"));
  try {
    const open = slow.shut();
    const round = loop.round();
    await until(() => quick.every(({ holding }) => holding("9.9.9.9") === perTarget), {
      what: () => right().join(", "),
    });
    // All others are done, and the slow one has not answered its first request.
    expect([right(), slow.server.asked.length]).toEqual([[0, perTarget, perTarget, perTarget, perTarget], 1]);
    open();
    expect(new Set(await round)).toEqual(new Set(["done"]));
    expect(right()).toEqual([perTarget, perTarget, perTarget, perTarget, perTarget]);
  } finally {
    await loop.close();
    await Promise.all(targets.map(({ server }) => server.close()));
  }
});
