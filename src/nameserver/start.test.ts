import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { emptyMessage, encodeMessage } from "../lib/dns/message.ts";
import { createLog } from "../process/log.ts";
import { startNameserver } from "./start.ts";

const question = encodeMessage({ ...emptyMessage, id: 1, questions: [{ name: "a.example", type: 1, class: 1 }] });

it("logs zones that cannot be loaded at most every ten seconds", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLog({ format: "text", write: (line) => void lines.push(line) });
  const source = {
    closest: () => Promise.reject(new Error("away")),
    load: async () => undefined,
    follow: () => () => undefined,
  };
  const server = await startNameserver({ listen: [{ host: "127.0.0.1", port: 0 }], source, log });
  onTestFinished(server.close);
  const socket = createSocket("udp4");
  onTestFinished(() => void socket.close());
  const ask = async () => {
    socket.send(question, server.addresses[0]?.port ?? 0, "127.0.0.1");
    await once(socket, "message");
  };
  await ask();
  await ask();
  vi.advanceTimersByTime(9_999);
  await ask();
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1);
  await ask();
  expect(lines).toHaveLength(2);
});
