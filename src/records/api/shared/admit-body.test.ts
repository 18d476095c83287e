import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fastify } from "fastify";
import { expect, it, onTestFinished } from "vitest";
import { wholeAccount } from "../../../core/may.ts";
import { scheduleHeavyRequests } from "./admit-body.ts";

it("a request whose client leaves while it waits is neither authenticated again nor handled", async () => {
  const [waiting, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done: string[] = [];
  const server = fastify();
  onTestFinished(() => server.close());
  server.decorateRequest("actor");
  server.addHook("onRequest", async (request) => {
    request.actor = { account: 1, scope: wholeAccount, label: "test", from: request.ip };
  });
  const next = async () => {
    waiting.resolve();
    await goOn.promise;
  };
  scheduleHeavyRequests(
    server,
    { next },
    {
      isStillValid: async ({ url }) => done.push(`checked ${url}`) > 0,
      refuse: (reply) => reply.code(401).send(),
    },
  );
  server.get("/:name", { config: { heavy: true } }, async ({ url }) => {
    done.push(`handled ${url}`);
    return "ok";
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const accepted = once(server.server, "connection") as Promise<[Socket]>;
  const client = connect(Number(new URL(url).port), "127.0.0.1");
  client.write("GET /left HTTP/1.1\r\nHost: a\r\n\r\n");
  const [peer] = await accepted;
  await waiting.promise;
  client.destroy();
  await new Promise((resolve) => peer.once("close", resolve));
  goOn.resolve();
  expect(await (await fetch(`${url}/stayed`)).text()).toBe("ok");
  expect(done).toEqual(["checked /stayed", "handled /stayed"]);
});
