import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { PostgresClient } from "./client.ts";
import { migratePostgres } from "./migrate.ts";
import { readPostgresUrl } from "./url.ts";

const servers = new Set<Server>();
const sockets = new Set<Socket>();
afterEach(() => {
  for (const server of servers) server.close();
  servers.clear();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

async function listening(meet: (socket: Socket) => void): Promise<string> {
  // A server that hangs does not notice who has gone.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    meet(socket.on("error", () => undefined));
  }).listen(0, "127.0.0.1");
  servers.add(server);
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Only who is silent is not waited for. */
async function saidOf(at: string, connectionTimeoutMillis: number): Promise<string> {
  const address = readPostgresUrl(`postgres://me:geheim@${at}`, { env: {} });
  if (!address.ok) throw new Error(address.faults.map(({ message }) => message).join());
  const { config, shown } = address.value;
  const connect = () => new PostgresClient({ ...config, connectionTimeoutMillis }).connect();
  return await migratePostgres(connect, shown, []).then(String, (error: Error) => error.message);
}

const welcome = Buffer.from("R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");

it.each<[string, () => Promise<string>, RegExp]>([
  [
    "does not listen",
    async () => "127.0.0.1:1/x",
    /ECONNREFUSED 127\.0\.0\.1:1; check that the server is running, and the/,
  ],
  [
    "takes the connection and is silent",
    async () => `${await listening(() => undefined)}/x`,
    /timeout expired; the server does not answer; .* no firewall drops the packets$/,
  ],
  [
    "lets a first connection in and then is silent",
    async () => {
      let met = 0;
      return `${await listening((socket) => socket.once("data", () => (met++ === 0 ? socket.write(welcome) : undefined)))}/x`;
    },
    /timeout expired; the server does not answer/,
  ],
  [
    "takes the connection and ends it",
    async () => `${await listening((socket) => socket.end())}/x`,
    /Connection terminated unexpectedly; check that the server is running, and the host and port in the address$/,
  ],
  [
    "speaks something else",
    async () => `${await listening((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))}/x?sslmode=require`,
    /SSL connection; this may not be a PostgreSQL server; check that/,
  ],
  [
    "has no such name",
    async () => "db.invalid/x?sslmode=disable",
    /db\.invalid; (?:correct the host|see whether this)/,
  ],
  ["has no socket", async () => "/x?host=/nowhere", /ENOENT .*; check that the server is running/],
])("a server that %s is reported with what to do, and without the password", async (what, at, says) => {
  const said = await saidOf(await at(), what.endsWith("is silent") ? 300 : 100_000);
  expect(said).toMatch(/^the database postgres:\/\/me@\S+ cannot be used: /);
  expect(said).toMatch(says);
  expect(said).not.toContain("geheim");
});
