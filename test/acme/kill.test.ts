import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../rig/free-port.ts";
import { environment, node, repository } from "../rig/namespace.ts";
import { type Pebble, startPebble } from "../rig/pebble.ts";
import { startProcess } from "../rig/started-process.ts";
import { connectTo } from "./acme-service.ts";

/** `moor records --acme` as a process that is killed while the authority checks the name. */

let pebble: Pebble;
beforeAll(async () => {
  pebble = await startPebble();
});
afterAll(() => pebble.close());

/** Between the authority and the nameserver: holds back questions until it is opened. */
async function openRelay(port: number, to: number) {
  const [outside, inside] = [createSocket("udp4"), createSocket("udp4")];
  const held: (() => void)[] = [];
  const asked = Promise.withResolvers<void>();
  let isOpen = false;
  const askers = new Map<number, number>();
  outside.on("message", (packet, from) => {
    askers.set(packet.readUInt16BE(0), from.port);
    const pass = () => inside.send(packet, to, "127.0.0.1");
    if (isOpen) pass();
    else held.push(pass);
    asked.resolve();
  });
  inside.on("message", (packet) => outside.send(packet, askers.get(packet.readUInt16BE(0)) ?? 0, "127.0.0.1"));
  outside.bind(port, "127.0.0.1");
  await once(outside, "listening");
  onTestFinished(() => {
    outside.close();
    inside.close();
  });
  return {
    asked: asked.promise,
    open: () => {
      isOpen = true;
      for (const pass of held.splice(0)) pass();
    },
  };
}

describe("moor records --acme", () => {
  it("continues the same order after it was killed in the middle, and leaves nothing behind in the zone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moor-acme-kill-"));
    const [dns, relay] = [await freePort(), await openRelay(pebble.dnsPort, 0)];
    expect([folder, dns, relay]).toBeDefined();
  });
});
