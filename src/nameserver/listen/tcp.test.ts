import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { until } from "../../../test/rig/until.ts";
import { ConnectionLimit, type ConnectionLimits } from "../../lib/limits/connection-limit.ts";
import { createLog } from "../../process/log.ts";
import type { RespondTo, Stream } from "../answer/respond.ts";
import { defaultTcpLimits, listenTcp } from "./tcp.ts";
import type { TcpLimits } from "./tcp-connection.ts";
import type { Listening } from "./udp.ts";

const log = createLog({ format: "text", level: "silent", write: () => {} });
const opened: Listening[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const each of opened.splice(0)) await each.close();
});

/** Echoes queries; one that begins with 1 is answered later, one with 2 never. */
const echo: RespondTo = async (query) => {
  if (query[0] === 2) return await new Promise<never>(() => {});
  if (query[0] === 1) await nextTurn();
  return Buffer.from(query);
};

async function listen(
  limits: Partial<TcpLimits & ConnectionLimits> = {},
  respond = echo,
  stream?: Stream,
): Promise<number> {
  const limit = new ConnectionLimit({ all: 100, source: 100, ...limits });
  const options = { respond, stream, log, limit, limits: { ...defaultTcpLimits, idle: 600_000, ...limits } };
  const listening = await listenTcp({ host: "127.0.0.1", port: 0 }, options);
  opened.push(listening);
  return listening.address.port;
}

type Client = {
  readonly socket: Socket;
  readonly received: () => Buffer;
  /** How many bytes: cheaper to ask again and again. */
  readonly size: () => number;
  readonly closed: Promise<unknown>;
};

function open(port: number, localAddress = "127.0.0.1"): Client {
  const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
  sockets.push(socket);
  const chunks: Buffer[] = [];
  let size = 0;
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
  });
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve).once("end", resolve));
  return { socket, received: () => Buffer.concat(chunks), size: () => size, closed };
}

const framed = (first: number, length = 12): Buffer =>
  Buffer.concat([Buffer.of(length >> 8, length & 0xff, first), Buffer.alloc(length - 1)]);

describe("queries on one connection", () => {
  it("may come at the same time, and are answered in the order in which answers are ready", async () => {
    const client = open(await listen());
    client.socket.write(Buffer.concat([framed(1), framed(0, 13), framed(0, 14)]));
    await until(() => client.size() === 14 + 15 + 16);
    expect(client.received().readUInt16BE(0)).toBe(13);
    expect(client.received().subarray(-14)).toEqual(framed(1));
  });

  it("may come byte by byte", async () => {
    const client = open(await listen());
    client.socket.setNoDelay(true);
    for (const byte of Buffer.concat([framed(0), framed(0)])) {
      client.socket.write(Buffer.of(byte));
      await nextTurn();
    }
    await until(() => client.size() === 28);
    expect(client.received()).toEqual(Buffer.concat([framed(0), framed(0)]));
  });

  it("may be as long as a message can be", async () => {
    const client = open(await listen());
    client.socket.write(framed(0, 65_535));
    await until(() => client.size() === 65_537);
    expect(client.received()).toEqual(framed(0, 65_535));
  });

  it("are answered even when the client has closed its side", async () => {
    const client = open(await listen());
    client.socket.end(Buffer.concat([framed(1), framed(0)]));
    await client.closed;
    expect(client.size()).toBe(28);
  });
});

describe("a client is disconnected that", () => {
  /** Waits for an answer first: a connection that was refused would look like one that was closed later. */
  const openAndAsk = async (port: number): Promise<Client> => {
    const client = open(port);
    client.socket.write(framed(0));
    await until(() => client.size() === 14);
    return client;
  };

  it("is silent for too long", async () => {
    const port = await listen({ idle: 80 });
    const client = await openAndAsk(port);
    await client.closed;
    expect(client.received()).toEqual(framed(0));
    expect((await openAndAsk(port)).received(), "others are still served").toEqual(framed(0));
  });

  it("never completes its query, however often it sends a byte", async () => {
    const client = await openAndAsk(await listen({ idle: 150 }));
    client.socket.write(Buffer.of(0, 200));
    const trickle = setInterval(() => client.socket.write(Buffer.of(0)), 20);
    await client.closed;
    clearInterval(trickle);
    expect(client.received(), "the half query was not answered").toEqual(framed(0));
  });

  it("sends less than a header", async () => {
    const client = await openAndAsk(await listen());
    client.socket.write(Buffer.of(0, 11));
    await client.closed;
    expect(client.received()).toEqual(framed(0));
  });

  it("keeps sending queries but reads no answers", async () => {
    const client = await openAndAsk(await listen({ idle: 200, unread: 64 * 1024 }));
    client.socket.pause();
    const flood = Buffer.concat(Array<Buffer>(20).fill(framed(0, 60_000)));
    const keep = setInterval(() => client.socket.write(flood), 10);
    const [error] = await once(client.socket, "error");
    clearInterval(keep);
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/) });
    expect(client.received(), "none of the flood was taken").toEqual(framed(0));
  });

  it("is the one idle longest when there is no more room", async () => {
    const port = await listen({ all: 2 });
    const [first, second] = [open(port), open(port)];
    first.socket.write(framed(0));
    await until(() => first.size() === 14);
    second.socket.write(framed(0));
    await until(() => second.size() === 14);
    first.socket.write(framed(0));
    await until(() => first.size() === 28);
    const third = open(port);
    third.socket.write(framed(0));
    await until(() => third.size() === 14);
    await second.closed;
    first.socket.write(framed(0));
    await until(() => first.size() === 42);
    expect([second.received(), third.received()]).toEqual([framed(0), framed(0)]);
  });
});

it("one address gets its share of the connections, and others can still connect", async () => {
  const port = await listen({ all: 10, source: 2 });
  const greedy = [open(port), open(port), open(port)];
  await greedy[0]?.closed;
  const other = open(port, "127.0.0.2");
  other.socket.write(framed(0));
  await until(() => other.size() === 14);
  greedy[2]?.socket.write(framed(0));
  await until(() => greedy[2]?.size() === 14);
  expect(greedy.map((each) => each.socket.readyState === "open")).toEqual([false, true, true]);
});

describe("a zone transfer", () => {
  const messages = 1_000;
  const largeZone = () => {
    const state = { ended: false };
    const message = Buffer.alloc(60_000);
    const stream: Stream = async function* () {
      try {
        for (let left = messages; left > 0; left--) yield message;
      } finally {
        state.ended = true;
      }
    };
    return { state, stream };
  };

  it("continues though nothing was read for a while: a kernel with large buffers accepts data in bursts", async () => {
    const client = open(await listen({ idle: 50 }, echo, largeZone().stream));
    client.socket.pause();
    client.socket.write(framed(0));
    await realPause(500, "longer than a connection may be idle");
    client.socket.resume();
    await client.closed;
    expect(client.size()).toBe(messages * 60_002);
  });

  it("is not closed when there is no more room, even if it is the oldest connection", async () => {
    const port = await listen({ all: 2 }, echo, (query) =>
      query[0] === 3 ? largeZone().stream(query, "") : undefined,
    );
    const client = open(port);
    client.socket.pause();
    client.socket.write(framed(3));
    await new Promise((resolve) => client.socket.once("readable", resolve));
    const second = open(port);
    second.socket.write(framed(0));
    await until(() => second.size() === 14);
    const third = open(port);
    third.socket.write(framed(0));
    await until(() => third.size() === 14);
    await second.closed;
    client.socket.resume();
    await until(() => client.size() === messages * 60_002);
    // It is done, and idle longest: now it is the one to close.
    third.socket.write(framed(0));
    await until(() => third.size() === 28);
    const fourth = open(port);
    fourth.socket.write(framed(0));
    await until(() => fourth.size() === 14);
    await client.closed;
    expect(client.size(), "the whole zone, and nothing after it").toBe(messages * 60_002);
  });

  it("ends when it is read too slowly, even if steadily", async () => {
    const { state, stream } = largeZone();
    const slowest = Number.POSITIVE_INFINITY;
    const client = open(await listen({ stalled: 0, slowest }, echo, stream));
    client.socket.write(framed(0));
    await until(() => state.ended);
    await client.closed;
    expect(client.size()).toBeLessThan(messages * 60_002);
  });

  it("continues when the server takes long for its next message and the client has read everything so far", async () => {
    const small: Stream = async function* () {
      for (let i = 0; i < 2; i += 1) {
        await realPause(600, "longer than a connection may be idle");
        yield Buffer.alloc(100);
      }
    };
    const client = open(await listen({ idle: 500 }, echo, small));
    client.socket.write(framed(0));
    await client.closed;
    expect(client.size()).toBe(2 * 102);
  });

  it("ends when nothing is read for too long", async () => {
    const { state, stream } = largeZone();
    const client = open(await listen({ idle: 50, stalled: 200 }, echo, stream));
    client.socket.pause();
    client.socket.write(framed(0));
    await until(() => state.ended);
    client.socket.resume();
    await client.closed;
    expect(client.size()).toBeLessThan(messages * 60_002);
  });
});

it("a connection with too many waiting queries is not read, and others are served", async () => {
  let asked = 0;
  const counting: RespondTo = (query, transport) => {
    asked += 1;
    return echo(query, transport, "");
  };
  const port = await listen({ waiting: 4 }, counting);
  const greedy = open(port);
  greedy.socket.write(Buffer.concat(Array<Buffer>(50).fill(framed(2))));
  await until(() => asked === 4);
  const other = open(port);
  other.socket.write(framed(0));
  await until(() => other.size() === 14);
  expect(asked).toBe(5);
});

it("reports a port that is in use", async () => {
  const port = await listen();
  const again = listenTcp({ host: "127.0.0.1", port }, { respond: echo, log });
  await expect(again).rejects.toThrow(`TCP port ${port} on 127.0.0.1 is in use`);
});
