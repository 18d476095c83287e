import { expect, it } from "vitest";
import { emptyMessage, encodeMessage } from "../../process/dns/message.ts";
import { readQuery } from "./read-query.ts";

const queryFor = (type: number) =>
  readQuery(encodeMessage({ ...emptyMessage, id: 1, questions: [{ name: "www.example.org", type, class: 1 }] }));

it("a query for the type NXNAME, which only NSEC records contain, is malformed (RFC 9824)", () => {
  expect(queryFor(128)).toMatchObject({ kind: "refusal", rcode: 1 });
  expect([127, 129].map((type) => queryFor(type).kind)).toEqual(["query", "query"]);
});
