import { createSocket, type Socket } from "node:dgram";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../../test/rig/until.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";
import type { RespondTo } from "../answer/respond.ts";
import { createDnsCounters, limitedPlace } from "../metrics/metrics.ts";
import type { UdpOptions } from "./answer-datagrams.ts";
import { BatchListeners } from "./batch/batch-listeners.ts";
import type { ReplyVerdict } from "./rate-limit.ts";
import { type Listening, listenUdp } from "./udp.ts";

const question = Buffer.from("00010001", "hex");
const query = Buffer.concat([
  Buffer.from("abcd01000001000000000000", "hex"),
  Buffer.from("\x03www\x00", "latin1"),
  question,
]);
const reply = Buffer.concat([Buffer.from("abcd85000001000100000000", "hex"), query.subarray(12), Buffer.alloc(40, 7)]);

type Open = (at: ListenAddress, options: UdpOptions) => Promise<Listening>;

/** The kinds of sockets; `shareable` ones share their port. */
const kinds: readonly (readonly [string, { readonly open: Open; readonly shareable: () => Open }])[] = [
  ["dgram", { open: listenUdp, shareable: () => (at, options) => listenUdp(at, { ...options, reusePort: true }) }],
  [
    "batch",
    {
      open: (at, options) => new BatchListeners().listen(at, options),
      shareable: () => {
        const listeners = new BatchListeners({ reusePort: true });
        return (at, options) => listeners.listen(at, options);
      },
    },
  ],
];

describe.each(kinds)("%s", (_, { open, shareable }) => {
  const opened: Listening[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.close();
    for (const each of opened.splice(0)) await each.close();
  });

  const listen = (options: Omit<UdpOptions, "seed">, port = 0) =>
    open({ host: "127.0.0.1", port }, { seed: 1, ...options });

  async function serve(respond: RespondTo, passage: ReplyVerdict = "send") {
    const listening = await listen({ respond, rateLimit: () => passage });
    opened.push(listening);
    const socket = createSocket("udp4");
    sockets.push(socket);
    const received: Buffer[] = [];
    socket.on("message", (message) => received.push(message));
    const ask = (bytes: Buffer) => socket.send(bytes, listening.address.port, "127.0.0.1");
    return { ask, received, port: listening.address.port };
  }

  describe("a reply", () => {
    it.each([
      ["immediately", () => reply],
      ["later", async () => await nextTurn(reply)],
    ])("given %s is sent to the client that asked", async (_, respond) => {
      const { ask, received } = await serve(respond);
      ask(query);
      await until(() => received.length === 1);
      expect(received).toEqual([reply]);
    });

    it("over the limit is truncated to its question, with the TC bit", async () => {
      const { ask, received } = await serve(() => reply, "truncate");
      ask(query);
      await until(() => received.length === 1);
      expect(received[0]?.toString("hex")).toBe(`abcd87000001000000000000${query.subarray(12).toString("hex")}`);
    });

    it("keeps its OPT record when it is truncated", async () => {
      const opt = Buffer.from("00002904d0000080000000", "hex");
      const spoken = Buffer.concat([reply, opt]);
      spoken.writeUInt16BE(1, 10);
      const { ask, received } = await serve(() => spoken, "truncate");
      ask(query);
      await until(() => received.length === 1);
      const question = query.subarray(12).toString("hex");
      expect(received[0]?.toString("hex")).toBe(`abcd87000001000000000001${question}${opt.toString("hex")}`);
    });

    it("that is only a header stays one when it is truncated", async () => {
      const { ask, received } = await serve(() => Buffer.from("abcd80010000000000000000", "hex"), "truncate");
      ask(Buffer.from("abcd0100000100000000000005", "hex"));
      await until(() => received.length === 1);
      expect(received[0]?.toString("hex")).toBe("abcd82010000000000000000");
    });

    it("may be dropped or missing, and the next one is sent", async () => {
      const passages: ReplyVerdict[] = ["drop", "send"];
      const listening = await listen({
        respond: (bytes) => (bytes.length < 12 ? undefined : reply),
        rateLimit: () => passages.shift() ?? "send",
      });
      opened.push(listening);
      const socket = createSocket("udp4");
      sockets.push(socket);
      const received: Buffer[] = [];
      socket.on("message", (message) => received.push(message));
      for (const bytes of [Buffer.of(1), query, query]) socket.send(bytes, listening.address.port, "127.0.0.1");
      await until(() => received.length === 1);
      // Replies arrive in order: a reply to an earlier query would be among them.
      socket.send(query, listening.address.port, "127.0.0.1");
      await until(() => received.length > 1);
      expect(received).toHaveLength(2);
    });
  });

  it("a query over its network's limit is counted, but not processed", async () => {
    const counters = createDnsCounters();
    const asked: Buffer[] = [];
    const respond = (bytes: Buffer) => {
      asked.push(bytes);
      return reply;
    };
    let left = 2;
    const queryLimit = () => left-- > 0;
    const options = { respond, rateLimit: () => "send" as const, queryLimit, counters };
    const listening = await listen(options);
    opened.push(listening);
    const socket = createSocket("udp4");
    sockets.push(socket);
    for (let i = 0; i < 5; i++) socket.send(query, listening.address.port, "127.0.0.1");
    await until(() => counters.limited[limitedPlace.drop] === 3);
    expect(asked).toHaveLength(2);
  });

  describe("a flood of queries that have to wait", () => {
    it("uses up only the share of its network", async () => {
      const gate = Promise.withResolvers<Buffer>();
      const asked = { waiting: 0, refused: 0 };
      const others = new Set<number>();
      const { ask, received, port } = await serve((bytes, _transport, _from, allowedWork) => {
        if (allowedWork === "cached-only") return undefined;
        if (bytes[0] !== query[0] && allowedWork === "any") others.add(bytes[0] ?? 0);
        else asked[allowedWork === "any" ? "waiting" : "refused"] += 1;
        return allowedWork === "any" ? gate.promise : undefined;
      });
      const marked = (mark: number) => Buffer.from(query).fill(mark, 0, 1);
      // The kernel may drop some if they arrive faster than they are read.
      for (let sent = 0; asked.refused < 50 && sent < 100_000; sent += 50) {
        for (let i = 0; i < 50; i++) ask(query);
        await nextTurn();
      }
      expect(asked.waiting).toBe(100);
      const other = createSocket("udp4").bind(0, "127.0.9.1");
      sockets.push(other);
      const answered: Buffer[] = [];
      other.on("message", (message) => answered.push(message));
      // Until the flood is read, queries are dropped.
      await until(() => {
        if (!others.has(201)) other.send(marked(201), port, "127.0.0.1");
        return others.has(201);
      });
      gate.resolve(reply);
      await until(() => received.length === 100 && answered.length > 0);
      ask(marked(202));
      await until(() => others.has(202));
    });

    it("does not stop queries that need not wait from being answered", async () => {
      const never = new Promise<never>(() => {});
      let waiting = 0;
      const { ask, received } = await serve((bytes, _transport, _from, allowedWork) => {
        if (bytes[0] !== 0) return reply;
        if (allowedWork === "cached-only") return undefined;
        waiting += 1;
        return allowedWork === "any" ? never : undefined;
      });
      const slow = Buffer.from(query).fill(0, 0, 1);
      for (let sent = 0; waiting < 150 && sent < 100_000; sent += 50) {
        for (let i = 0; i < 50; i++) ask(slow);
        await nextTurn();
      }
      ask(query);
      await until(() => received.length === 1);
      expect(received).toEqual([reply]);
      expect(waiting).toBeGreaterThanOrEqual(150);
    });
  });

  it("a flood of queries whose answers have to be made is dropped in part, and answers at hand are given", async () => {
    const counts = { made: 0, kept: 0 };
    const { ask, received } = await serve((bytes, _transport, _from, allowedWork) => {
      if (bytes[0] !== 0) return reply;
      if (allowedWork === "cached-only") {
        counts.kept += 1;
        return undefined;
      }
      counts.made += 1;
      // Longer than the time of a turn: one is made in each.
      for (const end = performance.now() + 2; performance.now() < end; );
      return undefined;
    });
    const expensive = Buffer.from(query).fill(0, 0, 1);
    // The kernel may drop some if they arrive faster than they are read.
    for (let sent = 0; counts.kept < 10 * counts.made && sent < 100_000; sent += 64) {
      for (let i = 0; i < 64; i++) ask(expensive);
      await nextTurn();
    }
    expect(counts.kept).toBeGreaterThanOrEqual(10 * counts.made);
    ask(query);
    await until(() => received.length === 1);
  });

  it("reports a port that is in use", async () => {
    const { port } = await serve(() => reply);
    const again = listen({ respond: () => reply, rateLimit: () => "send" }, port);
    await expect(again).rejects.toThrow(`UDP port ${port} on 127.0.0.1 is in use`);
  });

  it("several listeners may share a port", async () => {
    const open = shareable();
    const options = { respond: () => reply, rateLimit: () => "send" as const, seed: 1 };
    const first = await open({ host: "127.0.0.1", port: 0 }, options);
    const second = await open(first.address, options);
    opened.push(first, second);
    expect(second.address).toEqual(first.address);
  });

  it("does not answer after it was closed", async () => {
    const { ask, received, port } = await serve(() => reply);
    ask(query);
    await until(() => received.length === 1);
    await opened[0]?.close();
    const again = await listen({ respond: () => reply, rateLimit: () => "send" }, port);
    await again.close();
    expect(again.address.port).toBe(port);
  });
});
