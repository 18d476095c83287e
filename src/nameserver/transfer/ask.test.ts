import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { standStill } from "../../../test/rig/stand-still.ts";
import { askUdp } from "./ask.ts";

it("a server that has answered while this process stood still is not taken for silent", async () => {
  const server = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  server.on("message", (asked, { port, address }) => {
    asked[2] = (asked[2] ?? 0) | 0x80;
    server.send(asked, port, address);
    standStill(600);
  });
  const peer = { host: "127.0.0.1", port: server.address().port, key: undefined };
  const question = { name: "example.org", type: 6, class: 1 };
  const signal = new AbortController().signal;
  const answer = await askUdp(peer, { opcode: 0, question }, { signal, limit: 400, now: Date.now });
  expect(answer.questions).toEqual([question]);
});
