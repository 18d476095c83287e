import { afterAll, beforeAll, expect, it } from "vitest";
import { type Namespace, node, openNamespace } from "../rig/namespace.ts";

/** A machine with two IPv4 addresses, two IPv6 addresses and a link-local one. */
let server: Namespace;
beforeAll(async () => {
  server = await openNamespace();
  await server.ip(
    "link add cable type veth peer name other",
    "addr add 192.0.2.1/24 dev cable",
    "addr add 192.0.2.2/24 dev cable",
    "addr add 2001:db8::1/64 dev cable nodad",
    "addr add 2001:db8::2/64 dev cable nodad",
    "addr add fe80::1/64 dev cable nodad",
    "addr add fe80::2/64 dev cable nodad",
    "link set other up",
    "link set cable up",
  );
});
afterAll(() => server.close());

/** Asks one address from another, and prints where the reply came from. By default, that would be the other one. */
const askFrom = `
const [from, to, port] = process.argv.slice(1);
const socket = require("node:dgram").createSocket(to.includes(":") ? "udp6" : "udp4").bind(0, from);
socket.on("message", (_, { address }) => { console.log(address); process.exit(0); });
socket.on("listening", () => setInterval(() => socket.send(Buffer.alloc(12), Number(port), to), 100));
setTimeout(() => process.exit(1), 20_000);
`;

const ipv4 = [
  ["192.0.2.1", "192.0.2.2"],
  ["192.0.2.2", "192.0.2.1"],
  ["192.0.2.2", "127.0.0.2"],
] as const;
const ipv6 = [
  ["2001:db8::1", "2001:db8::2"],
  ["2001:db8::2", "2001:db8::1"],
  ["fe80::2%cable", "fe80::1%cable"],
] as const;

it.each([
  ["0.0.0.0", ipv4],
  ["::", [...ipv6, ...ipv4]],
  ["192.0.2.2", ipv4.slice(0, 1)],
  ["fe80::1%cable", ipv6.slice(2)],
])("a socket on %s answers from the address that was asked", async (host, asked) => {
  const listener = server.start([node, "test/nameserver/udp-echo.ts", host, "5300", "batch"]);
  await listener.says(/listens/);
  for (const [from, to] of asked) {
    const { out, err } = await server.run([node, "-e", askFrom, from, to, "5300"]);
    expect([from, to, out.trim(), err]).toEqual([from, to, to, ""]);
  }
  await listener.stop();
});
