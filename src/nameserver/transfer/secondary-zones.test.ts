import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { noLog } from "../../process/log.ts";
import { Secondaries } from "./secondary-zones.ts";

it("many zones of one primary take turns, and each is looked up twice: to find its primary, and at its turn", async () => {
  const names = Array.from({ length: 500 }, (_, i) => `z${i}.example`);
  const looks = new Map<string, number>();
  const asked = new Set<string>();
  const secondaries = new Secondaries({
    ports: {
      list: async () => names,
      secondaryZone: async (name) => {
        // Only lookups before the first failure count: ten seconds after it, the zone is retried.
        if (!asked.has(name)) looks.set(name, (looks.get(name) ?? 0) + 1);
        // Nothing listens there.
        const primaries = [{ host: "127.0.0.1", port: 1, key: undefined }];
        return { name, account: 1, primaries, refused: [], current: undefined, timers: undefined, checked: undefined };
      },
      store: async () => "done",
      checked: async () => undefined,
    },
    // The warning that the zone could not be transferred.
    log: { ...noLog, warn: (fields: object | string) => void asked.add((fields as { zone: string }).zone) },
    now: Date.now,
    random: () => 1,
    refreshes: () => true,
  });
  secondaries.takeOver();
  await expect.poll(() => asked.size).toBe(names.length);
  await secondaries.close();
  expect(Math.max(...looks.values())).toBeLessThanOrEqual(2);
});

it.each([
  { what: "is deleted", after: undefined },
  { what: "has other primary servers", after: [] },
])("a running transfer ends when its zone $what", async ({ after }) => {
  // It accepts the question and never answers.
  const primary = createServer((socket) => void socket.resume()).listen(0, "127.0.0.1");
  onTestFinished(() => void primary.close());
  await once(primary, "listening");
  const { port } = primary.address() as AddressInfo;
  let primaries: { host: string; port: number; key: undefined }[] | undefined = [
    { host: "127.0.0.1", port, key: undefined },
  ];
  const stored: string[] = [];
  const secondaries = new Secondaries({
    ports: {
      list: async () => ["z.example"],
      secondaryZone: async (name) =>
        primaries && {
          name,
          account: 1,
          primaries,
          refused: [],
          current: undefined,
          timers: undefined,
          checked: undefined,
        },
      store: async (name) => {
        stored.push(name);
        return "done";
      },
      checked: async () => undefined,
    },
    log: noLog,
    now: Date.now,
    random: () => 1,
    refreshes: () => true,
  });
  const connected = once(primary, "connection");
  secondaries.takeOver();
  const [socket] = (await connected) as [Socket];
  primaries = after;
  secondaries.checkSoon("z.example");
  await once(socket, "close");
  await secondaries.close();
  expect(stored).toEqual([]);
});
