import { fastify } from "fastify";
import { expect, it } from "vitest";
import { createLog } from "../../../process/log.ts";
import { noteRefusals, sendRefused } from "./refused-requests.ts";

it("logs sixty refusals a minute, and then how many more there were", async () => {
  const lines: string[] = [];
  let now = 1_000_000;
  const api = fastify();
  noteRefusals(api, createLog({ format: "json", write: (line) => lines.push(line) }), () => now);
  api.get("/", (_, reply) => sendRefused(reply, {}));
  const refuse = async (times: number) => {
    for (let i = 0; i < times; i++) expect((await api.inject("/")).statusCode).toBe(422);
    return lines.splice(0).map((line) => JSON.parse(line) as { msg: string; count?: number });
  };
  expect(await refuse(100)).toHaveLength(60);
  now += 59_999;
  expect(await refuse(1)).toEqual([]);
  now += 1;
  expect(await refuse(1)).toMatchObject([
    { msg: "more requests were refused", count: 41 },
    { msg: "a request was refused" },
  ]);
});
