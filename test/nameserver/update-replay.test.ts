import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { emptyMessage, encodeMessage, type ResourceRecord } from "../../src/lib/dns/message.ts";
import type { TsigKey } from "../../src/lib/dns/tsig.ts";
import { signRequest } from "../../src/lib/dns/tsig-client.ts";
import { sendOverUdp } from "./ask-over-udp.ts";
import { type MoorDns, startMoorDns } from "./moor-dns.ts";

const www = { name: "www.example.org", type: 1, class: 1, ttl: 60, data: Buffer.of(192, 0, 2, 1) };
const gone = { ...www, class: 255, ttl: 0, data: Buffer.of() };

function update(key: TsigKey, record: ResourceRecord, id: number): Buffer {
  const questions = [{ name: "example.org", type: 6, class: 1 }];
  const message = encodeMessage({ ...emptyMessage, id, opcode: 5, questions, authorities: [record] });
  return signRequest(message, key, Date.now()).bytes;
}

it("a replayed update is answered again but not applied again, not even after a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "moor-replay-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  let moor: MoorDns = await startMoorDns({}, join(folder, "records.sqlite"));
  onTestFinished(() => moor.close());
  await moor.makeZone("example.org", "@ 600 NS ns1");
  const [, name = "", secret = ""] = (await moor.makeKey("client")).split(":");
  const key: TsigKey = { name, algorithm: "hmac-sha256", secret: Buffer.from(secret, "base64") };
  const codeOf = async (packet: Buffer) => (await sendOverUdp(moor.port, packet))?.rcode;
  const address = () => moor.dig("+short", "www.example.org");
  const serial = async () => (await moor.store.zoneHolding("example.org"))?.serial;

  const overheard = update(key, www, 1);
  expect([await codeOf(overheard), await address()]).toEqual([0, "192.0.2.1"]);
  // The client repeats a datagram whose answer was lost.
  const before = await serial();
  expect([await codeOf(overheard), await address(), await serial()]).toEqual([0, "192.0.2.1", before]);
  expect([await codeOf(update(key, gone, 2)), await address()]).toEqual([0, ""]);
  expect([await codeOf(overheard), await address()]).toEqual([0, ""]);
  await moor.close();
  moor = await startMoorDns({}, join(folder, "records.sqlite"));
  expect([await codeOf(overheard), await address()]).toEqual([0, ""]);
  expect([await codeOf(update(key, www, 3)), await address()]).toEqual([0, "192.0.2.1"]);
});
