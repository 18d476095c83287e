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
  // A hanging server does not notice that the client has closed its side.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    meet(socket.on("error", () => undefined));
  }).listen(0, "127.0.0.1");
  servers.add(server);
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function messageFor(at: string, connectionTimeoutMillis: number): Promise<string> {
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
    "accepts the connection and is silent",
    async () => `${await listening(() => undefined)}/x`,
    /timeout expired; the server does not answer; .* no firewall drops the packets$/,
  ],
  [
    "accepts the first connection and then is silent",
    async () => {
      let met = 0;
      return `${await listening((socket) => socket.once("data", () => (met++ === 0 ? socket.write(welcome) : undefined)))}/x`;
    },
    /timeout expired; the server does not answer/,
  ],
  [
    "accepts the connection and closes it",
    async () => `${await listening((socket) => socket.end())}/x`,
    /Connection terminated unexpectedly; check that the server is running, and the host and port in the URL$/,
  ],
  [
    "speaks another protocol",
    async () => `${await listening((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))}/x?sslmode=require`,
    /SSL connection; this may not be a PostgreSQL server; check that/,
  ],
  [
    "has a name that does not exist",
    async () => "db.invalid/x?sslmode=disable",
    /db\.invalid; (?:correct the host|check that this machine can resolve names)/,
  ],
  ["has no socket", async () => "/x?host=/nowhere", /ENOENT .*; check that the server is running/],
])("a server that %s is reported with what to do, and without the password", async (what, at, says) => {
  // Only a silent server should reach the time limit.
  const message = await messageFor(await at(), what.endsWith("is silent") ? 300 : 100_000);
  expect(message).toMatch(/^the database postgres:\/\/me@\S+ cannot be used: /);
  expect(message).toMatch(says);
  expect(message).not.toContain("geheim");
});
