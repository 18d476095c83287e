import { parseAddress } from "../../addresses/address.ts";
import { type Label, printLabels } from "../../names/label.ts";
import { parseExactTarget, parseTarget } from "../../names/name.ts";
import { nameFromWire, writeName } from "../../names/wire.ts";
import { type Fault, fail, ok, type Result } from "../../result.ts";
import { bytesField, textOfCodes } from "./bytes.ts";
import type { FieldKind } from "./field.ts";
import { quotedFault, type TextToken } from "./tokens.ts";

/** A host or any other name that a record points at. */
export const hostName: FieldKind<string> = {
  takes: "one",
  wire: "name",
  parse([token], { zoneName, where }) {
    const fault = notNameFault(token, where);
    if (fault !== undefined) return fail(fault);
    const target = parseTarget(token.raw, zoneName, where);
    return target.ok ? target : badName(target.faults);
  },
  print: (value) => value,
  write(value, out) {
    writeName(value.slice(0, -1), out);
  },
  read(wire) {
    const read = nameFromWire(wire.bytes, wire.at);
    if (read === undefined) return undefined;
    wire.at = read.end;
    return `${read.name}.`;
  },
};

function notNameFault(token: TextToken, where: string): Fault | undefined {
  // Without a trailing dot it would be a name in this zone whose labels are numbers, which is hardly ever meant.
  const isAddress = !token.quoted && parseAddress(token.raw) !== undefined;
  return quotedFault(token, where) ?? (isAddress ? addressForName(token.raw, where) : undefined);
}

const badName = (faults: readonly Fault[]): Result<never> =>
  fail(...faults.map((fault) => ({ ...fault, code: "bad-name" })));

export const addressForName = (text: string, where: string): Fault => ({
  code: "address-for-name",
  where,
  message: `${text} is an address, and this must be a name`,
  todo: "give the address an A or AAAA record at some name, and write that name here",
});

/** A name that keeps its upper case letters, because the data stays as it is. The value is its bytes. */
export const exactName: FieldKind<string> = {
  takes: "one",
  ...bytesField({
    wire: "name",
    end: (data, at) => nameFromWire(data, at)?.end,
    print: (bytes) => `${printLabels(labelsIn(bytes))}.`,
  }),
  parse([token], { zoneName, where }) {
    const fault = notNameFault(token, where);
    if (fault !== undefined) return fail(fault);
    const labels = parseExactTarget(token.raw, zoneName, where);
    if (!labels.ok) return badName(labels.faults);
    return ok(`${labels.value.map((label) => String.fromCharCode(label.length) + label).join("")}\0`);
  },
};

/** The labels of a valid name, as they are. */
function labelsIn(wire: Uint8Array): readonly Label[] {
  const labels: Label[] = [];
  for (let at = 0; (wire[at] ?? 0) > 0; at += 1 + (wire[at] ?? 0))
    labels.push(textOfCodes(wire.subarray(at + 1, at + 1 + (wire[at] ?? 0))));
  return labels;
}
