import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createLog } from "../../process/log.ts";
import { openAccess } from "../access/store.ts";
import { createFirewallConsole } from "./console.ts";

it("does not log aborted requests, with which anybody could fill the disk", async () => {
  const lines: string[] = [];
  const access = openAccess(":memory:");
  onTestFinished(access.close);
  const { handle } = createFirewallConsole({
    access,
    streams: { open: async () => ({ kind: "full" }), look: () => undefined, close: () => undefined },
    log: createLog({ format: "text", write: (line) => void lines.push(line) }),
    now: () => new Date(),
    readTraffic: async () => ({ at: 0, devices: {}, defaultRoutes: [] }),
    caFile: undefined,
    pages: undefined,
  });
  const handled: Promise<boolean>[] = [];
  const server = createServer((request, response) => void handled.push(handle(request, response)));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write('POST /console/sign-in HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"na');
  await expect.poll(() => handled.length).toBe(1);
  socket.destroy();
  expect(await handled[0]).toBe(true);
  expect(lines).toEqual([]);
});
