import { once } from "node:events";
import { Agent, request as ask, createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { readPlainRequest } from "./plain-request.ts";

let server: Server;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  server = createServer((request, response) => {
    void readPlainRequest(request).then((plain) => response.writeHead(plain ? 200 : 413).end(plain?.body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  agent.destroy();
  server.close();
});

async function send(body: string) {
  const { port } = server.address() as AddressInfo;
  const sent = ask({ agent, port, host: "127.0.0.1", method: "POST", timeout: patience }).end(body);
  sent.on("timeout", () => sent.destroy(new Error("no answer")));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer), again: sent.reusedSocket };
}

describe("a request for a page", () => {
  it("that is too long is answered before its end", async () => {
    const { port } = server.address() as AddressInfo;
    const sent = ask({ agent, port, host: "127.0.0.1", method: "POST", timeout: patience });
    sent.on("timeout", () => sent.destroy(new Error("no answer")));
    sent.write("a".repeat(100_000));
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    sent.end();
    await text(answer);
  });

  it("that is short leaves the connection usable for the next one", async () => {
    expect(await send("short")).toMatchObject({ status: 200, body: "short" });
    expect(await send("short")).toEqual({ status: 200, body: "short", again: true });
  });
});
