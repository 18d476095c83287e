import { expect, it } from "vitest";
import { nameToWire } from "../../core/names/wire.ts";
import { emptyMessage, encodeMessage, type Message } from "../../lib/dns/message.ts";
import { signRequest } from "../../lib/dns/tsig-client.ts";
import { asksBelow, classify } from "./classify.ts";

const query = (name: string, type = 1, more: Partial<Message> = {}): Buffer =>
  encodeMessage({
    id: 1,
    ...emptyMessage,
    questions: [{ name, type, class: 1 }],
    ...more,
  });

const key = { name: "k", algorithm: "hmac-sha256", secret: Buffer.of(1) } as const;
const edns = { udpSize: 1232, version: 0, dnssecOk: false, options: [{ code: 10, data: Buffer.alloc(8) }] };

it.each([
  ["a query", query("www.example.org"), "plain"],
  ["a query with a cookie", query("www.example.org", 1, { edns }), "plain"],
  ["a signed query", signRequest(query("www.example.org"), key, 0).bytes, "other"],
  ["a signed query with a cookie", signRequest(query("www.example.org", 1, { edns }), key, 0).bytes, "other"],
  ["AXFR", query("example.org", 252), "transfer"],
  ["IXFR, signed", signRequest(query("example.org", 251), key, 0).bytes, "transfer"],
  ["a NOTIFY", query("example.org", 6, { opcode: 4 }), "other"],
  ["an update", query("example.org", 6, { opcode: 5 }), "other"],
  ["a response", query("example.org", 6, { response: true }), "silence"],
  ["an incomplete header", Buffer.alloc(11), "silence"],
  ["only a header", Buffer.alloc(12), "plain"],
  ["a truncated question", query("www.example.org").subarray(0, 20), "plain"],
])("a request is recognised: %s", (_, bytes, expected) => {
  expect(classify(bytes)).toBe(expected);
});

it.each([
  ["catalog.example", true],
  ["a.b.catalog.example", true],
  ["CATALOG.Example", true],
  ["xcatalog.example", false],
  ["example", false],
  ["catalog.example.org", false],
  // The byte before `catalog` equals its length byte, but is part of a longer label.
  ["x\\007catalog.example", false],
])("is %s below catalog.example: %s", (name, expected) => {
  const bytes = query(name.toLowerCase());
  const upper = /[A-Z]/.test(name)
    ? Buffer.from(bytes.toString("latin1").replace("catalog", "CATALOG"), "latin1")
    : bytes;
  expect(asksBelow(upper, nameToWire("catalog.example"))).toBe(expected);
});
