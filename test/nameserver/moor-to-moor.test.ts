import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PrimaryServer, Zone } from "../../src/records/model.ts";
import { dnameTo } from "../rig/core/written-sets.suite.ts";
import { freePort } from "../rig/free-port.ts";
import { isLongRun } from "../rig/long-run.ts";
import { realPause } from "../rig/real-pause.ts";
import { until } from "../rig/until.ts";
import { addressOver } from "./ask-over-udp.ts";
import { everyone, type MoorDns, startMoorDns } from "./moor-dns.ts";

const secret = randomBytes(32).toString("base64");
const many = Array.from(
  { length: isLongRun ? 5_000 : 2_500 },
  (_, i) => `host-${i} 300 A 10.0.${i >> 8}.${i & 255}`,
).join("\n");
const text = `@ 300 NS ns1\n${many}\n_a._b 60 SRV 1 2 3 host-1\n*.w 60 TXT "x"\n`;

let primary: MoorDns;
let secondary: MoorDns;
let zone: Zone;
beforeAll(async () => {
  secondary = await startMoorDns({ networks: everyone });
  primary = await startMoorDns({
    networks: [],
    notify: [{ host: "127.0.0.1", port: secondary.port, keyName: undefined }],
  });
  // Without a transfer key with this secret on the secondary, the key is named after the zone.
  const key = { algorithm: "hmac-sha256", secret, account: undefined, scope: { access: "read" }, created: 1 } as const;
  await primary.store.addTransferKey({ ...key, name: "example.org" });
  zone = await primary.makeZone("example.org", text);
});
afterAll(async () => {
  await primary?.close();
  await secondary?.close();
});

const unsignedServer = (port: number): PrimaryServer => ({
  id: `p${port}`,
  address: "127.0.0.1",
  port,
  created: 1,
  modified: 1,
});
const server = (port: number, key = secret): PrimaryServer => ({
  ...unsignedServer(port),
  tsig: { algorithm: "hmac-sha256", key },
});
const follow = (name: string, ...primaries: readonly PrimaryServer[]) =>
  secondary.makeZone(name, "", { mode: "secondary", primaries });
const tellsOf = (words: string) =>
  until(() => secondary.log().includes(words), { what: () => `${words} in ${secondary.log()}` });
const content = async (moor: MoorDns, name: string) =>
  (await moor.store.sets((await moor.store.zoneHolding(name)) as Zone, {}))
    .map(
      (set) =>
        `${set.owner} ${set.ttl} ${set.type} ${set.records
          .map((record) => record.rdata)
          .sort()
          .join(" ")}`,
    )
    .sort();

describe("one moor that follows another", () => {
  it("transfers a zone of many messages, from the first primary that answers", async () => {
    await follow("example.org", server(await freePort()), server(primary.port));
    await tellsOf("zone transferred");
    expect(await content(secondary, "example.org")).toEqual(await content(primary, "example.org"));
  });

  it("follows every kind of change", async () => {
    const texts = [
      `${text}new 60 A 192.0.2.1\n`,
      `${text}new 90 A 192.0.2.2\n`,
      `@ 60 NS ns9\nfew 60 A 192.0.2.3\n`,
      text,
    ];
    for (const each of texts) {
      await primary.write(zone, each);
      const serial = (await primary.store.zoneHolding("example.org"))?.serial;
      const isThere = async () => (await secondary.store.zoneHolding("example.org"))?.serial === serial;
      await until(isThere, { what: () => `the change: ${secondary.log()}` });
      expect(await content(secondary, "example.org")).toEqual(await content(primary, "example.org"));
    }
    const rows = await secondary.store.historyOf((await secondary.store.zoneHolding("example.org")) as Zone, {
      limit: 1,
    });
    expect(rows[0]).toMatchObject({
      actor: "transfer",
      serial: (await primary.store.zoneHolding("example.org"))?.serial,
    });
  });

  it("moves names by a DNAME", async () => {
    await primary.write(zone, `${text}moved 60 ${dnameTo("example.org")}\n`);
    const answer = () => secondary.dig("+short", "host-1.moved.example.org");
    await expect.poll(answer).toBe("example.org.\nhost-1.example.org.\n10.0.0.1");
  });

  it("gets a change from the second primary while the first lags behind, and logs when only the first is left", async () => {
    const notify = [{ host: "127.0.0.1", port: secondary.port, keyName: undefined }];
    const behind = await startMoorDns({ networks: everyone });
    const ahead = await startMoorDns({ networks: everyone, notify });
    try {
      await behind.makeZone("two.example", "www 60 A 192.0.2.1");
      const leading = await ahead.makeZone("two.example", "www 60 A 192.0.2.1");
      await follow("two.example", unsignedServer(behind.port), unsignedServer(ahead.port));
      const says = (address: string) =>
        until(async () => (await addressOver(secondary.port, "www.two.example")) === address, {
          what: () => `${address}: ${secondary.log()}`,
        });
      await says("192.0.2.1");
      await ahead.write(leading, "www 60 A 192.0.2.2");
      await says("192.0.2.2");
    } finally {
      await ahead.close();
    }
    await secondary.dig("+opcode=notify", "two.example", "SOA");
    await tellsOf(`"127.0.0.1 port ${behind.port} has serial 1"`);
    expect(secondary.log()).toContain(
      "the primary servers have an older serial than this server; the stored zone is kept",
    );
    await behind.close();
  });

  it("answers from a zone until it expires, while its primary is silent", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", () => resolve()));
    const address = silent.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const { makeZone, store, dig } = secondary;
    const primaries = [unsignedServer(port)];
    const beforeAndAfter = async (name: string, left: number) => {
      const old = await makeZone(name, "www 60 A 192.0.2.1", { mode: "secondary", primaries });
      const end = Date.now() + left;
      await store.noteSecondary(old, { checked: end - 1_209_600_000, serial: 1 });
      const before = [await dig("+short", `www.${name}`)];
      await realPause(Math.max(0, end - 500 - Date.now()), "the zone expires by the real clock");
      before.push(await dig("+short", `www.${name}`));
      const inTime = Date.now() < end;
      await realPause(Math.max(0, end + 50 - Date.now()), "the zone expires by the real clock");
      return { before, inTime, after: await dig(`www.${name}`) };
    };
    let seen = await beforeAndAfter("old2000.example", 2_000);
    // An answer after that moment means that the query was late, on a busy machine.
    for (let left = 3_000; !seen.inTime; left *= 1.5) seen = await beforeAndAfter(`old${left}.example`, left);
    expect(seen.before).toEqual(["192.0.2.1", "192.0.2.1"]);
    expect(seen.after).toContain("status: SERVFAIL");
    silent.close();
  });

  it("accepts nothing that is signed with another secret", async () => {
    await primary.makeZone("wrong.example", "www 60 A 192.0.2.1");
    await follow("wrong.example", server(primary.port, randomBytes(32).toString("base64")));
    await tellsOf("the signature was refused: BADKEY");
    expect(await secondary.dig("www.wrong.example")).toContain("status: SERVFAIL");
  });

  it("logs again why a zone cannot be transferred when the reason changes, and names the server", async () => {
    const bad = await startMoorDns({ networks: everyone });
    await bad.makeZone("late.example", "www 60 A 192.0.2.1\nwww 60 CNAME ns1");
    const gate = createServer((socket) =>
      socket
        .on("error", () => undefined)
        .resume()
        .end(),
    );
    const port = await freePort();
    await follow("late.example", unsignedServer(port), unsignedServer(bad.port));
    const clash = `127.0.0.1 port ${bad.port}: www has a CNAME record and also A`;
    await tellsOf(
      `zone=late.example because="127.0.0.1 port ${port}: connect ECONNREFUSED 127.0.0.1:${port}; ${clash}"`,
    );
    await new Promise<void>((resolve) => gate.listen(port, "127.0.0.1", () => resolve()));
    await secondary.dig("+opcode=notify", "late.example", "SOA");
    await tellsOf(`zone=late.example because="127.0.0.1 port ${port}: the connection was closed early; ${clash}"`);
    expect(await secondary.dig("www.late.example")).toContain("status: SERVFAIL");
    await new Promise((resolve) => gate.close(resolve));
    await bad.close();
  });

  it("accepts nothing from a server that closes the connection or sends garbage", async () => {
    const answers = [
      Buffer.of(),
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.concat(Array.from({ length: 50 }, () => Buffer.concat([Buffer.of(0, 12), Buffer.alloc(12)]))),
    ];
    for (const [i, answer] of answers.entries()) {
      const fake = createServer((socket) =>
        socket
          .on("error", () => undefined)
          .resume()
          .end(answer),
      );
      await new Promise<void>((resolve) => fake.listen(0, "127.0.0.1", () => resolve()));
      const address = fake.address();
      const port = typeof address === "object" && address ? address.port : 0;
      await follow(`fake${i}.example`, server(port));
      await tellsOf(`zone=fake${i}.example because=`);
      expect(await secondary.dig(`www.fake${i}.example`)).toContain("status: SERVFAIL");
      await new Promise((resolve) => fake.close(resolve));
    }
  });
});
