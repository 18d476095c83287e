import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPostgres, usualLimits } from "./open-postgres.ts";
import { StoreBusy } from "./store-busy.ts";

const message = (kind: string, ...parts: readonly (string | number)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : int32(part))));
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

/** As a server does that is stopped while somebody signs in: welcome and farewell come in one packet. */
const welcomeAndFarewell = Buffer.concat([
  message("R", 0),
  message("Z", "I"),
  message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
]);

const server = createServer((socket) => socket.once("data", () => socket.end(welcomeAndFarewell)));
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => server.close());

it("a server that is stopped while it lets a connection in ends nothing but that", async () => {
  const { port } = server.address() as AddressInfo;
  const address = { config: { host: "127.0.0.1", port, user: "moor", ssl: false }, shown: "the one that stops" };
  const database = openPostgres(address, pino({ level: "silent" }), { ...usualLimits, patience: 200 });
  await expect(database.read({ text: "SELECT 1" })).rejects.toBeInstanceOf(StoreBusy);
  await database.close();
});
