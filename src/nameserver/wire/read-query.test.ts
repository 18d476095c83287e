import { expect, it } from "vitest";
import { emptyMessage, encodeMessage } from "../../lib/dns/message.ts";
import { readQuery } from "./read-query.ts";

it.for([
  [100, false],
  [101, true],
] as const)(
  "%i EDNS options, malformed: %s, because reading thousands would take longer than the answer",
  ([count, isMalformed]) => {
    const options = Array.from({ length: count }, () => ({ code: 65_001, data: new Uint8Array() }));
    const edns = { udpSize: 1_232, version: 0, dnssecOk: false, options };
    const questions = [{ name: "example.org", type: 1, class: 1 }];
    const read = readQuery(Buffer.from(encodeMessage({ ...emptyMessage, id: 1, questions, edns })));
    expect(read).toMatchObject({ kind: "query", edns: { isMalformed } });
  },
);
