import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { readLargeBody } from "./read-large-body.ts";

const parts = Array.from({ length: 40 }, (_, i) => Buffer.alloc(10_000, i));
const whole = Buffer.concat(parts);

/** A request whose body arrives in these parts. */
function requestWith(body: readonly Buffer[], headers: IncomingMessage["headers"]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  for (const part of body) request.push(part);
  request.push(null);
  return request;
}

it.each([
  ["with its length", { "content-length": `${whole.length}` }],
  ["in chunks", {}],
])("a body %s is read as it was sent", async (_, headers) => {
  expect((await readLargeBody(requestWith(parts, headers), whole.length)).equals(whole)).toBe(true);
});

it.each([
  ["longer than the limit", { "content-length": `${whole.length}` }, whole.length - 1, 413],
  ["longer than the limit, in chunks", {}, whole.length - 1, 413],
  ["shorter than announced", { "content-length": `${whole.length + 1}` }, 2 * whole.length, 400],
])("a body that is %s is refused", async (_, headers, limit, statusCode) => {
  await expect(readLargeBody(requestWith(parts, headers), limit)).rejects.toMatchObject({ statusCode });
});
