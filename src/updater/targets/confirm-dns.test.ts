import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { decode, encode } from "dns-packet";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { type ConfirmRequest, confirmDns } from "./confirm-dns.ts";

let answers: (asked: number) => readonly string[];
/** A query that is repeated because its answer was not read in time counts once. */
let asked: Set<number | undefined>;
let close: () => Promise<void>;
let request: ConfirmRequest;
const never = new AbortController().signal;

beforeEach(async () => {
  asked = new Set();
  const socket = createSocket("udp4", (message, { port, address }) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    asked.add(id);
    const current = answers(asked.size).map((data) => ({
      type: question?.type as "A",
      name: question?.name ?? "",
      ttl: 1,
      data,
    }));
    socket.send(encode({ type: "response", id: id ?? 0, questions, answers: current }), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  close = () => new Promise((resolve) => socket.close(() => resolve()));
  const { port } = socket.address() as AddressInfo;
  request = {
    zone: "example.org",
    name: "home.example.org",
    family: "ipv4",
    value: "9.9.9.9",
    servers: [`127.0.0.1:${port}`],
  };
});
afterEach(() => close());

it("confirms once all servers return the new address", async () => {
  answers = (n) => (n < 3 ? ["192.0.2.1"] : ["9.9.9.9"]);
  expect(await confirmDns(request, never)).toEqual({ kind: "confirmed", servers: 1 });
  expect(asked.size).toBe(3);
});

it("recognises IPv6 addresses in any spelling", async () => {
  answers = () => ["2a00:0:0::9"];
  expect(await confirmDns({ ...request, family: "ipv6", value: "2a00::9" }, never)).toMatchObject({
    kind: "confirmed",
  });
});

test.each([
  ["the old one", ["192.0.2.1"], /still returns 192\.0\.2\.1/],
  ["both", ["192.0.2.1", "9.9.9.9"], /still returns/],
  ["both, the new one first", ["9.9.9.9", "192.0.2.1"], /still returns/],
  ["nothing", [], /has no answer \(ENODATA\)/],
])("does not confirm when they return %s", async (_, given, because) => {
  answers = () => given;
  const confirmation = await confirmDns(request, never, { limit: 300 });
  expect(confirmation).toMatchObject({ kind: "unconfirmed", because: expect.stringMatching(because) });
});

it("does not confirm if there is no server to ask", async () => {
  const none = { limit: 300, serversOf: async () => [] };
  expect(await confirmDns({ ...request, servers: [] }, never, none)).toMatchObject({
    kind: "unconfirmed",
    because: "no nameserver of example.org was found",
  });
});

it("stops when the signal aborts", async () => {
  answers = () => ["192.0.2.1"];
  const before = performance.now();
  await confirmDns(request, AbortSignal.timeout(100), { limit: 600_000 });
  expect(performance.now() - before).toBeLessThan(60_000);
});

describe("a server with several addresses", () => {
  const noWayThere = "127.0.0.1:1";
  const serversOf = async () => [[noWayThere, ...request.servers]];
  const confirm = () => confirmDns({ ...request, servers: [] }, never, { limit: 300, serversOf });

  it("is asked at one of them if there is no route to the other", async () => {
    answers = () => ["9.9.9.9"];
    expect(await confirm()).toEqual({ kind: "confirmed", servers: 1 });
  });
  it("is reported when it answers wrongly at one of them", async () => {
    answers = () => ["192.0.2.1"];
    expect(await confirm()).toMatchObject({ because: expect.stringMatching(/still returns 192\.0\.2\.1/) });
  });
  it("is reported when it answers at none", async () => {
    const silent = { limit: 300, serversOf: async () => [[noWayThere]] };
    expect(await confirmDns({ ...request, servers: [] }, never, silent)).toMatchObject({
      because: `${noWayThere} has no answer (ECONNREFUSED)`,
    });
  });
});

it("keeps the process alive while it waits", async () => {
  answers = (n) => (n < 3 ? ["192.0.2.1"] : ["9.9.9.9"]);
  const module = pathToFileURL(join(import.meta.dirname, "confirm-dns.ts")).href;
  const program = `
    const { confirmDns } = await import("${module}");
    const { kind } = await confirmDns(${JSON.stringify(request)}, new AbortController().signal);
    console.log(kind);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  expect(stdout.trim()).toBe("confirmed");
});
