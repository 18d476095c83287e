import fc from "fast-check";
import { expect, it } from "vitest";
import { queryFor } from "../../../test/nameserver/ask-over-tcp.ts";
import { createZoneView, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { printLabels } from "../../core/names/label.ts";
import { labelsOf } from "../../core/names/name.ts";
import { answerQuestion } from "../../core/records/answer.ts";
import { wireOf } from "../../core/records/zone-view.ts";
import { decodeMessage, encodeMessage } from "../../lib/dns/message.ts";
import { readQuery } from "../wire/read-query.ts";
import { createNegativeAuthority } from "./negative-authority.ts";
import { replyNegative } from "./reply.ts";

const label = fc.string({
  unit: fc.integer({ min: 97, max: 122 }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 20,
});

it.each(["ns1 hostmaster", "ns1.elsewhere.net. hostmaster.elsewhere.net.", "@ @", ". ."])(
  "an authority section of a negative answer decodes to the SOA %s after any name",
  (names) => {
    const view = createZoneView(writtenZone("zone.example", `@ 60 SOA ${names} 1 7200 900 1209600 300`));
    fc.assert(
      fc.property(fc.array(label, { maxLength: 8 }), (own) => {
        const name = printLabels([...own, ...labelsOf("zone.example")]);
        const answer = answerQuestion(view, labelsOf(name), "TXT");
        const query = readQuery(encodeMessage(queryFor({ name, type: 16 }, 1)));
        if (query.kind !== "query") throw new Error("no query");
        const authority = createNegativeAuthority(view, answer.authority, "tcp");
        if (authority === undefined) throw new Error("no authority section");
        const reply = replyNegative({ kind: "negative", authority, flagsAndRcode: 0x8403 }, query, 512);
        const data = Uint8Array.from(answer.authority.flatMap(({ set }) => [...(wireOf(set)[0] ?? [])]));
        expect(decodeMessage(reply)).toMatchObject({
          message: {
            rcode: 3,
            authoritative: true,
            questions: [{ name, type: 16, class: 1 }],
            answers: [],
            authorities: [{ name: "zone.example", type: 6, class: 1, ttl: 60, data }],
            additionals: [],
          },
        });
      }),
    );
  },
);
