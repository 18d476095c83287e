import { createSocket } from "node:dgram";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { hashSecret } from "../../src/access/secret.ts";
import { encodeMessage } from "../../src/lib/dns/message.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";
import { frameNeighbours, type Neighbour, zoneNeighbours } from "./frames-and-zones.ts";
import { largeZoneName, publishedZoneName, type Street, signedZoneName } from "./store.ts";

export type Ports = { readonly http: number; readonly dns: number };

/** The largest writes: the others wait for one of these several times as long as for an import. */
export const grownZones = "zones of 36,000 records, emptied";

/** Each is one request; the others write while it is carried out. */
export const wholeZones = [
  "100,000 signed names get a new TTL",
  "100,000 signed names are unsigned",
  "100,000 signed names are deleted",
] as const;

const signed = (i: number): string => `/v1/zones/${signedZoneName(i)}`;

/** One after the other, each as bad as its permissions allow. */
export function neighboursOf({ hostile }: Street, { http, dns }: Ports): Readonly<Record<string, Neighbour>> {
  const { writer, reader, session, zones, largeZone } = hostile;
  const api = (token: string) => callerOf(http, { "Auth-API-Token": token });
  const [asWriter, asReader, asNobody] = [api(writer), api(reader), api("wrong")];
  const asPage = callerOf(http, { origin: `http://127.0.0.1:${http}`, "sec-fetch-site": "same-origin" });
  const asSession = callerOf(http, {
    ...{ origin: `http://127.0.0.1:${http}`, "sec-fetch-site": "same-origin" },
    ...{ cookie: `__Host-moor-records=${session}`, "x-csrf-token": hashSecret(`csrf:${session}`) },
  });
  const file = zoneFile(16 * 1024 * 1024);
  const smaller = zoneFile(260_000, 7);
  const named = Buffer.concat([
    Buffer.from("$ORIGIN neighbour.example.\n"),
    file.subarray(0, file.lastIndexOf("\n", file.length - 100) + 1),
  ]);
  const inJson = JSON.stringify({ zonefile: smaller.toString() });
  const v1 = "/api/v1";
  return {
    nobody: async (signal) => {
      await sleep(1e9, undefined, { signal }).catch(() => undefined);
      return {};
    },
    "16 MiB to validate, a token that reads one set": repeat(1, () =>
      asReader("POST", `${v1}/zones/file/validate`, named),
    ),
    "4 × 16 MiB to validate": repeat(4, () => asWriter("POST", `${v1}/zones/file/validate`, named)),
    "16 MiB of faults to validate": repeat(4, () => asWriter("POST", `${v1}/zones/file/validate`, clashes)),
    "4 × 16 MiB and 9,000 records to import": repeat(4, (i) =>
      asWriter("POST", `${v1}/zones/${zones[i % 4]}/import`, i % 8 < 4 ? (i % 16 < 8 ? file : smaller) : tiny),
    ),
    "4 × 9,000 records to import, record-set API": repeat(4, (i) =>
      asWriter("POST", `/v1/zones/small-${i % 4}.example/actions/import_zonefile`, i % 8 < 4 ? inJson : tinyJson),
    ),
    "zones of 9,000 records created and deleted": repeat(2, async (i) => {
      const name = `made-${i % 2}.example`;
      await asWriter("POST", "/v1/zones", JSON.stringify({ name, mode: "primary", zonefile: smaller.toString() }));
      return await asWriter("DELETE", `/v1/zones/${name}`);
    }),
    "exports of 50,000 sets": repeat(4, () => asWriter("GET", `${v1}/zones/${largeZone}/export`)),
    "lists of 50,000 records": repeat(4, () => asWriter("GET", `${v1}/records?zone_id=${largeZone}`)),
    "records of all zones, one per page": repeat(4, () => asWriter("GET", `${v1}/records?per_page=1`)),
    "records of all zones in one answer": repeat(4, () => asWriter("GET", `${v1}/records`)),
    "tokens with large scopes, made and listed": repeat(4, (i) =>
      i % 4 < 3 ? asSession("POST", "/console/tokens", largeToken) : asSession("GET", "/console/tokens?all"),
    ),
    "pages of a list of 50,000 sets": repeat(4, (i) =>
      asWriter("GET", `/v1/zones/${largeZoneName}/rrsets?per_page=100&page=${(i % 500) + 1}&sort=name:desc`),
    ),
    "events from 0 on, hung up": repeat(8, () => hangUp(http, { "Auth-API-Token": reader, "Last-Event-ID": "0" })),
    "events from 0 on, read": repeat(4, () => hangUp(http, { "Auth-API-Token": writer, "Last-Event-ID": "0" }, 3_000)),
    "history, page by page": historyPages(asWriter),
    "500 changes, and undone": repeat(4, async (i) => {
      const zone = `small-${i % 4}.example`;
      const changes = Array.from({ length: 500 }, (_, j) => change(`c${j}`, `10.${i & 255}.0.${j & 255}`));
      const { text } = await asWriter("POST", `/v1/zones/${zone}/changes`, JSON.stringify({ changes }));
      const { serial } = JSON.parse(text || "{}") as { serial?: number };
      return await asWriter("POST", `/v1/zones/${zone}/history/${serial}/undo`);
    }),
    "bulks of 1 MiB": repeat(4, (i) => asWriter("POST", `${v1}/records/bulk`, bulk(zones[i % 4] ?? "", i))),
    [grownZones]: repeat(2, async (i) => {
      const zone = zones[4 + (i % 2)] ?? "";
      for (let j = 0; j < 4; j++) await asWriter("POST", `${v1}/records/bulk`, bulk(zone, 1_000 + 4 * i + j));
      return await asWriter("POST", `${v1}/zones/${zone}/import`, tiny);
    }),
    "bulks of 1 MiB of faults": repeat(4, (i) => asWriter("PUT", `${v1}/records/bulk`, bulk("none", i))),
    "1 MB of lists in lists": repeat(4, () => asWriter("POST", "/v1/zones/small-0.example/rrsets", nested)),
    "objects without a key in common": repeat(4, () => asWriter("POST", `${v1}/records/bulk`, different)),
    ...confirmNeighbours(asWriter),
    "label selectors": repeat(8, () => asWriter("GET", `/v1/zones?per_page=1&label_selector=${selector}`)),
    searches: repeat(8, (i) => asWriter("GET", `/v1/zones?per_page=50&search=${i % 10}.ex`)),
    [wholeZones[0]]: once(() => asWriter("POST", `${signed(0)}/actions/change_ttl`, JSON.stringify({ ttl: 120 }))),
    [wholeZones[1]]: once(() => asWriter("POST", `${signed(0)}/actions/unsign`, JSON.stringify({ immediately: true }))),
    [wholeZones[2]]: once(() => asWriter("DELETE", signed(1))),
    "AXFR of 50,000 sets": repeat(4, () => transfer(dns, largeZoneName)),
    "wrong tokens": repeat(16, () => asNobody("GET", `${v1}/zones`)),
    "wrong passwords": repeat(16, (i) =>
      asPage("POST", "/console/sign-in", JSON.stringify({ name: `u${i}`, password: "x" })),
    ),
    "16 MiB with no token": repeat(4, () => asNobody("POST", `${v1}/zones/file/validate`, file)),
    "1,000 slow connections": (signal) => slowLoris(http, 1_000, signal),
    "12,000 idle connections from 8 addresses": (signal) => idleCrowd(http, 12_000, 8, signal),
    "2,000 idle connections over DNS from 20 addresses": (signal) => idleCrowd(dns, 2_000, 20, signal),
    "dyndns2 updates": repeat(16, (i) =>
      callerOf(http, { authorization: `Basic ${Buffer.from(`x:${writer}`).toString("base64")}` })(
        "GET",
        `/nic/update?hostname=www.small-${i % 4}.example&myip=10.1.${(i >> 8) & 255}.${i & 255}`,
      ),
    ),
    "DNS queries for random names": (signal) => dnsFlood(dns, signal),
    ...zoneNeighbours(asWriter, dns),
    ...frameNeighbours(http),
  };
}

const largeToken = JSON.stringify({
  name: "t",
  scope: { access: "read", zones: Array.from({ length: 100 }, (_, i) => `${"z".repeat(50)}${i}.example`) },
});

type Answer = { readonly status: number | string; readonly text: string };
type Call = (method: string, path: string, body?: string | Buffer) => Promise<Answer>;

/** Repeats this many requests in parallel. */
const repeat =
  (parallel: number, one: (i: number) => Promise<Answer>): Neighbour =>
  async (signal) => {
    const counts: Record<string, number> = {};
    let next = 0;
    const go = async () => {
      while (!signal.aborted) {
        const { status } = await one(next++);
        counts[status] = (counts[status] ?? 0) + 1;
        // Retries soon after a refusal; a client without any pause would only measure itself.
        if (status !== 200 && status !== 201) await sleep(5);
      }
    };
    await Promise.all(Array.from({ length: parallel }, go));
    return counts;
  };

/** One request, and what goes on after its answer. */
const once =
  (one: () => Promise<Answer>): Neighbour =>
  async (signal) => {
    const begun = performance.now();
    const { status } = await one();
    const took = ((performance.now() - begun) / 1_000).toFixed(1);
    if (!signal.aborted) await sleep(1e9, undefined, { signal }).catch(() => undefined);
    return { [`${status} after ${took} s`]: 1 };
  };

function callerOf(port: number, headers: Readonly<Record<string, string>>): Call {
  const agent = new Agent({ keepAlive: true });
  return (method, path, body) =>
    new Promise((resolve) => {
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
      const more = { ...headers, ...length, "content-type": "application/json" };
      const sent = request(
        { agent, port, host: "127.0.0.1", method, path, headers: more, timeout: 20_000 },
        (answer) => {
          const parts: Buffer[] = [];
          const end = () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() });
          answer
            .on("data", (part: Buffer) => method === "GET" || parts.push(part))
            .on("end", end)
            .on("error", end);
        },
      );
      sent.on("timeout", () => sent.destroy());
      sent.on("error", (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? "failed", text: "" }));
      sent.end(body);
    });
}

function hangUp(port: number, headers: Readonly<Record<string, string>>, after = 100): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request({ agent: false, port, host: "127.0.0.1", path: "/v1/events", headers }, (answer) => {
      answer.resume().on("error", () => undefined);
      resolve({ status: answer.statusCode ?? 0, text: "" });
    });
    sent.on("error", () => resolve({ status: "hung up", text: "" })).end();
    setTimeout(() => sent.destroy(), after);
  });
}

/** Writes that wait for a provider that is down. Most change nothing, and wait all the same. */
function confirmNeighbours(call: Call): Readonly<Record<string, Neighbour>> {
  const body = JSON.stringify({ records: [{ value: "10.2.0.2" }] });
  const write = async () => {
    const path = `/v1/zones/${publishedZoneName}/rrsets/h1/A/actions/set_records?confirm=provider`;
    const answer = await call("POST", path, body);
    // The answer says 10 seconds.
    await sleep(1_000);
    return answer;
  };
  return {
    "5 × confirm=provider of one name": repeat(5, write),
    "300 × confirm=provider of one name": repeat(300, write),
  };
}

const historyPages = (call: Call): Neighbour =>
  repeat(4, (i) => call("GET", `/v1/zones/${largeZoneName}/history?per_page=100&before=${305_000 + (i % 400) * 100}`));

function transfer(port: number, name: string): Promise<Answer> {
  return new Promise((resolve) => {
    const question = encodeMessage(queryFor({ name, type: 252 }, 1));
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(Buffer.concat([Buffer.of(0, question.length), question])),
    );
    let bytes = 0;
    socket.on("data", (part) => {
      bytes += part.length;
    });
    socket.setTimeout(500, () => socket.destroy());
    socket
      .on("error", () => undefined)
      .on("close", () => resolve({ status: bytes > 1_000 ? "sent" : "not sent", text: "" }));
  });
}

async function slowLoris(port: number, count: number, signal: AbortSignal) {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  while (!signal.aborted) {
    for (const socket of sockets) if (socket.writable) socket.write("G");
    await sleep(200);
  }
  for (const socket of sockets) socket.destroy();
  return { connections: count };
}

/** Sends nothing, and opens each again when it is closed. */
async function idleCrowd(port: number, count: number, addresses: number, signal: AbortSignal) {
  const open = new Set<Socket>();
  let opened = 0;
  while (!signal.aborted) {
    for (let i = 0; i < 500 && open.size < count; i++, opened++) {
      const localAddress = `127.0.4.${1 + (opened % addresses)}`;
      const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => undefined);
      open.add(socket);
      socket.resume().on("close", () => void open.delete(socket));
    }
    await sleep(20);
  }
  const held = open.size;
  for (const socket of open) socket.destroy();
  return { opened, "open at the end": held };
}

async function dnsFlood(port: number, signal: AbortSignal) {
  const socket = createSocket("udp4");
  let asked = 0;
  while (!signal.aborted) {
    for (let i = 0; i < 20; i++, asked++) {
      const name = `x${Math.random().toString(36).slice(2)}.${asked % 2 ? largeZoneName : "elsewhere.example"}`;
      socket.send(encodeMessage(queryFor({ name, type: 1 }, asked & 0xffff)), port, "127.0.0.1");
    }
    await sleep(2);
  }
  socket.close();
  return { asked };
}

const head =
  "$ORIGIN neighbour.example.\n$TTL 300\n@ IN SOA ns1.example.net. h.example.net. 1 7200 900 1209600 300\n@ IN NS ns1.example.net.\n";
const withoutOrigin = head.slice(head.indexOf("\n") + 1);
const tiny = Buffer.from(withoutOrigin);
const tinyJson = JSON.stringify({ zonefile: withoutOrigin });
const selector = encodeURIComponent(Array.from({ length: 60 }, (_, i) => `label-${i % 20}!=x${i}`).join(","));

function zoneFile(bytes: number, seed = 1): Buffer {
  const lines = [withoutOrigin];
  for (let [size, i] = [withoutOrigin.length, 0]; size < bytes - 64; i++) {
    const line = `host-${i} IN A 10.${seed}.${(i >> 8) & 255}.${i & 255}\n`;
    lines.push(line);
    size += line.length;
  }
  return Buffer.from(lines.join(""));
}

/** Every name has both a CNAME and an A record. */
const clashes = Buffer.from(
  head +
    Array.from({ length: 280_000 }, (_, i) => `a${i} A 10.0.0.1\na${i} CNAME b${i}\n`)
      .join("")
      .slice(0, 16_000_000),
);

const nested = "[".repeat(500_000) + "]".repeat(500_000);
const different = JSON.stringify({ records: Array.from({ length: 60_000 }, (_, i) => ({ [`k${i}`]: 1 })) });

const bulk = (zone_id: string, i: number): string =>
  JSON.stringify({
    records: Array.from({ length: 9_000 }, (_, j) => ({
      id: `r${j}`,
      zone_id,
      type: "A",
      name: `b${i}-${j}`,
      value: "10.0.0.1",
      ttl: 60,
    })),
  });

const change = (name: string, value: string) => ({ op: "put", name, type: "A", ttl: 60, records: [{ value }] });
