import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { noConfig } from "../config.ts";
import type { FeedState } from "../report/feed.ts";
import { takeSnapshot } from "../report/report.ts";
import { InterfaceEventStreams } from "./events.ts";

/** Streams of a feed that the test controls; `padding` makes a report larger than any socket buffer. */
async function streams({ most = 10, mostOfKey = 10, heartbeat = 60_000, padding = "" } = {}) {
  const listeners = new Set<(state: FeedState) => void>();
  const stateOf = (count: number): FeedState => {
    const rows = [{ ifname: `eth${count}${padding}`, flags: [], addr_info: [] }];
    return { id: `7-${count}`, snapshot: takeSnapshot(rows, noConfig, count) };
  };
  let [count, allowed, written] = [1, true, 0];
  let lose: () => void = () => undefined;
  const feed = {
    current: async () => stateOf(count),
    follow: (listener: (state: FeedState) => void, onLost: () => void) => {
      listeners.add(listener);
      lose = onLost;
      return () => void listeners.delete(listener);
    },
  };
  const all = new InterfaceEventStreams({ feed, accessVersion: () => String(written), most, heartbeat });
  const server = createServer((request, response) => {
    void all
      .open(request, response, { mayStay: async () => allowed, holders: [{ name: "key k", most: mostOfKey }] })
      .then((opened) => {
        if (opened !== "taken") response.writeHead(opened.holder ? 429 : 503).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, agent: false }, (response) => {
        response.on("error", () => undefined);
        onTestFinished(() => void response.destroy());
        resolve(response);
      }).once("error", reject);
    });
  const change = () => {
    count += 1;
    for (const listener of listeners) listener(stateOf(count));
  };
  const forbid = () => {
    allowed = false;
  };
  /** Revokes like `moor key revoke` in another process. */
  const revoke = () => {
    forbid();
    written += 1;
  };
  return {
    open,
    revoke,
    checkAccess: () => all.checkAccess(),
    change,
    forbid,
    lose: () => lose(),
    listening: () => listeners.size,
    closeAll: () => all.close(),
  };
}

function textOf(response: IncomingMessage) {
  let text = "";
  response.setEncoding("latin1").on("data", (more: string) => {
    text += more;
  });
  return () => text;
}

const closed = (response: IncomingMessage) => new Promise<void>((resolve) => response.once("close", resolve));

describe("InterfaceEventStreams", () => {
  it("sends heartbeats", async () => {
    const { open } = await streams({ heartbeat: 30 });
    const text = textOf(await open());
    await expect.poll(() => text().split(": heartbeat\n\n").length).toBeGreaterThan(3);
  });

  it("refuses a stream too many, and accepts one again when another has ended", async () => {
    const { open, listening } = await streams({ most: 2 });
    const [first] = [await open(), await open()];
    expect((await open()).statusCode).toBe(503);
    first.destroy();
    await expect.poll(listening).toBe(1);
    expect((await open()).statusCode).toBe(200);
  });

  it("queues nothing for a listener that does not read, and sends the latest state when it does", async () => {
    const { open, change, listening } = await streams({ padding: "x".repeat(300_000) });
    const response = await open();
    await expect.poll(listening).toBe(1);
    for (let count = 0; count < 100; count++) {
      change();
      if (count % 10 === 0) await nextTurn();
    }
    await nextTurn();
    const text = textOf(response);
    await expect.poll(() => /id: 7-101\nevent: change/.test(text())).toBe(true);
    expect(text().split("event: change").length - 1).toBeLessThan(60);
  });

  it("disconnects a listener that never reads", async () => {
    const { open, change, listening } = await streams({ heartbeat: 40, padding: "x".repeat(4_000_000) });
    await open();
    await expect.poll(listening).toBe(1);
    for (let count = 0; count < 3; count++) change();
    await expect.poll(listening).toBe(0);
  });

  it.each(["at the next heartbeat", "at the next change"])("ends %s if the listener has lost access", async (at) => {
    const heartbeat = at === "at the next change" ? 60_000 : 30;
    const { open, change, forbid } = await streams({ heartbeat });
    const response = await open();
    const text = textOf(response);
    await expect.poll(text).toContain("snapshot");
    forbid();
    change();
    await closed(response);
    expect(text()).not.toContain("event: change");
  });

  it("ends with the check after a key was revoked, or with the next automatic check", async () => {
    const { open, revoke, checkAccess, listening } = await streams();
    const [one, other] = [await open(), await open()];
    for (const response of [one, other]) response.resume();
    const ended = Promise.all([closed(one), closed(other)]);
    await expect.poll(listening).toBe(2);
    revoke();
    checkAccess();
    await ended;
    await expect.poll(listening).toBe(0);
    const there = await streams();
    const alone = await there.open();
    alone.resume();
    await expect.poll(there.listening).toBe(1);
    there.revoke();
    await closed(alone);
    await expect.poll(there.listening).toBe(0);
  });

  it("refuses only the key that has too many streams", async () => {
    const { open, listening } = await streams({ mostOfKey: 2 });
    const [first] = [await open(), await open()];
    expect((await open()).statusCode).toBe(429);
    first.destroy();
    await expect.poll(listening).toBe(1);
    expect((await open()).statusCode).toBe(200);
  });

  it("ends when changes can no longer be detected", async () => {
    const { open, lose, listening } = await streams();
    const response = await open();
    response.resume();
    const ended = closed(response);
    lose();
    await ended;
    await expect.poll(listening).toBe(0);
  });

  it("ends all streams", async () => {
    const { open, closeAll, listening } = await streams();
    const all = [await open(), await open()];
    for (const response of all) response.resume();
    const ended = Promise.all(all.map(closed));
    closeAll();
    await ended;
    await expect.poll(listening).toBe(0);
  });
});
