import { expect, it } from "vitest";
import { bytesTypes, typeCode } from "../../src/core/rdata/table.ts";
import { validData } from "../rig/core/valid-data.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { askOverTcp } from "./ask-over-tcp.ts";
import { type ServerName, startRealServer } from "./real-servers.ts";

/** Signing generates these; in a zone that is not signed, servers check how they fit together. */
const generated = new Set([46, 47, 50, 51]);

const examples = Object.entries(validData).flatMap(([code, all]) =>
  generated.has(Number(code)) ? [] : all.map((hex, i) => ({ owner: `t${code}-${i}`, code: Number(code), hex })),
);
/** CDS, CDNSKEY, ZONEMD and CSYNC belong to the apex, but are not refused elsewhere. */
const lines = examples.map(({ owner, code, hex }) => `${owner} 60 TYPE${code} \\# ${hex.length / 2} ${hex}`);
const text = `@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1\n${lines.join("\n")}\n`;

it.each<ServerName>(["NSD", "Knot", "BIND"])(
  "%s serves a zone with the shortest valid data of every type",
  async (name) => {
    const zone = { name: "types.test", serial: 1, ttl: 60, sets: writtenSets("types.test", text) };
    const server = await startRealServer(name, [zone]);
    try {
      const questions = examples.map(({ owner, code }) => ({ name: `${owner}.types.test`, type: code }));
      const replies = await askOverTcp(server.port, questions);
      const missing = replies.flatMap(({ answers }, i) => (answers.length > 0 ? [] : [questions[i]]));
      expect(missing).toEqual([]);
    } finally {
      await server.close();
    }
  },
);

it("this includes every type that is kept as bytes and described", () => {
  const obsolete = ["TYPE3", "TYPE4"];
  const expected = bytesTypes.filter((type) => !generated.has(typeCode(type)) && !obsolete.includes(type));
  expect([...new Set(examples.map(({ code }) => `TYPE${code}`))].toSorted()).toEqual(expected.toSorted());
});
