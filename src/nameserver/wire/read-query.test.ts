import { expect, it } from "vitest";
import { emptyMessage, encodeMessage } from "../../lib/dns/message.ts";
import { readQuery } from "./read-query.ts";

const queryFor = (type: number) =>
  readQuery(encodeMessage({ ...emptyMessage, id: 1, questions: [{ name: "www.example.org", type, class: 1 }] }));

it("a query for the type NXNAME, which only NSEC records contain, is malformed (RFC 9824)", () => {
  expect(queryFor(128)).toMatchObject({ kind: "refusal", rcode: 1 });
  expect([127, 129].map((type) => queryFor(type).kind)).toEqual(["query", "query"]);
});

it.for([
  [100, "query"],
  [101, "refusal"],
] as const)("%i EDNS options: %s, because reading thousands would take longer than the answer", ([count, kind]) => {
  const options = Array.from({ length: count }, () => ({ code: 65_001, data: new Uint8Array() }));
  const edns = { udpSize: 1_232, version: 0, dnssecOk: false, options };
  const questions = [{ name: "example.org", type: 1, class: 1 }];
  expect(readQuery(Buffer.from(encodeMessage({ ...emptyMessage, id: 1, questions, edns }))).kind).toBe(kind);
});
