import { rdataFromWire } from "../../../src/core/rdata/rdata.ts";
import { type RecordType, typeCode, typeFromCode } from "../../../src/core/rdata/table.ts";
import { askOverTcp } from "../../nameserver/ask-over-tcp.ts";
import type { SetLine } from "./set-lines.ts";

/**
 * What a nameserver on this machine answers to these questions, in their order, over one connection. The names are
 * absolute. Tests ask thousands of questions, and a process of `dig` takes longer than its answer.
 */
export async function recordsAt(
  port: number,
  questions: readonly (readonly [name: string, type: RecordType])[],
): Promise<readonly SetLine[]> {
  const asked = questions.map(([name, type]) => ({ name, type: typeCode(type) }));
  const replies = await askOverTcp(port, asked);
  return replies.flatMap(({ answers }) =>
    answers.map(({ name, ttl, type, data }) => {
      const known = typeFromCode(type) ?? "A";
      const read = rdataFromWire(known, data);
      if (!read.ok) throw new Error(`a ${known} record of ${name} that cannot be read`);
      return { name, ttl, type: known, value: read.value.text };
    }),
  );
}

/** Whether it answers already, with the zone example.org. */
export const hasZone = (port: number): Promise<boolean> =>
  recordsAt(port, [["example.org", "SOA"]]).then(
    (found) => found.length > 0,
    () => false,
  );
