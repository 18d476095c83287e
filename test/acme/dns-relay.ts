import { createSocket } from "node:dgram";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** Between the authority and the nameserver: holds back queries until it is opened. */
export async function openRelay(port: number, to: () => number) {
  const [outside, inside] = [createSocket("udp4"), createSocket("udp4")];
  const held: (() => void)[] = [];
  const asked = Promise.withResolvers<void>();
  let isOpen = false;
  const askers = new Map<number, number>();
  outside.on("message", (packet, from) => {
    askers.set(packet.readUInt16BE(0), from.port);
    const pass = () => inside.send(packet, to(), "127.0.0.1");
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
