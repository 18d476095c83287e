import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { noLog } from "../../process/log.ts";
import { StoreBusy } from "../limits/store-busy.ts";
import { openPostgres, type Postgres, type PostgresLimits, usualLimits } from "./open.ts";

const message = (kind: string, ...parts: readonly (string | number)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : int32(part))));
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const welcome = Buffer.concat([message("R", 0), message("Z", "I")]);
/** Sent in one packet with `welcome` if the server is stopped while a client signs in. */
const farewell = message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");

/** Limits that are longer than a test may take. */
const never = { connect: 600_000, statement: 600_000, lock: 600_000 };

const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
});

/** A database on a server that only runs `greet` for each connection. */
async function databaseOn(greet: (socket: Socket) => void, limits: Partial<PostgresLimits> = {}): Promise<Postgres> {
  // A hanging server does not notice that the client has closed its side.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    socket.once("data", () => greet(socket));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const config = { host: "127.0.0.1", port, user: "moor", ssl: false };
  const address = { config, others: [], session: "any", shown: "the one of the test", toType: "" } as const;
  return openPostgres(address, noLog, { ...usualLimits, ...never, patience: 200, ...limits });
}

it("a server that is stopped while it accepts a connection makes the store busy, and nothing worse", async () => {
  const database = await databaseOn((socket) => socket.end(Buffer.concat([welcome, farewell])));
  await expect(database.read({ text: "SELECT 1" })).rejects.toBeInstanceOf(StoreBusy);
  await database.close();
});

it("work that comes after the end is refused with the reason", async () => {
  const database = await databaseOn(() => undefined);
  await database.close();
  await expect(database.read({ text: "SELECT 1" })).rejects.toThrow("the database connection is closed");
});

const done = Buffer.concat([message("C", "SELECT 0\0"), message("Z", "I")]);

it.each([
  ["accepts no client", () => undefined],
  ["answers no query", (socket: Socket) => void socket.write(welcome)],
  ["has answered one query", (socket: Socket) => void socket.once("data", () => socket.write(done)).write(welcome)],
])("a server that hangs and %s does not delay the end", async (_, greet) => {
  const database = await databaseOn(greet);
  void database.read({ text: "SELECT 1" }).catch(() => undefined);
  await expect.poll(() => open.size).toBe(1);
  await database.close();
  // Writing to a destroyed connection fails; writing to one that is only half closed does not.
  const stillHeld = () => {
    for (const socket of open) socket.write(welcome);
    return open.size;
  };
  await expect.poll(stillHeld).toBe(0);
});

it("a clock that was set back does not prolong the wait for a database that is down", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const database = await databaseOn((socket) => {
    vi.setSystemTime(Date.now() - 3_600_000);
    socket.destroy();
  });
  await expect(database.read({ text: "SELECT 1" })).rejects.toBeInstanceOf(StoreBusy);
  await database.close();
});

it("a caller that has waited elsewhere does not wait again: one attempt is made", async () => {
  let connections = 0;
  const database = await databaseOn(
    (socket) => {
      connections += 1;
      socket.destroy();
    },
    { patience: 600_000 },
  );
  const since = performance.now() - 600_000;
  await expect(database.read({ text: "SELECT 1" }, since)).rejects.toThrow("the database cannot be reached");
  expect(connections).toBe(1);
  await database.close();
});

it("nobody waits longer than its patience for a connection of the pool", async () => {
  // A notice now and then: the server is there, but answers no query.
  const notice = message("N", "SNOTICE\0C00000\0Mbusy\0\0");
  const database = await databaseOn(
    (socket) => {
      socket.write(welcome);
      const beat = setInterval(() => socket.write(notice), 200);
      socket.on("close", () => clearInterval(beat));
    },
    { connections: 1 },
  );
  const first = database.read({ text: "SELECT 1" }).catch((error: unknown) => error);
  await expect.poll(() => database.connections().used).toBe(1);
  await expect(database.read({ text: "SELECT 1" })).rejects.toThrow("the database is too busy");
  for (const socket of open) socket.destroy();
  expect(await first).toBeInstanceOf(StoreBusy);
  await database.close();
});

it("a connection that cannot be made in time means that the database cannot be reached, not that it is busy", async () => {
  const database = await databaseOn(() => undefined);
  await expect(database.read({ text: "SELECT 1" })).rejects.toThrow("the database cannot be reached");
  await database.close();
});
