import type { WireError } from "../../../contract/records-v1.ts";
import type { Refusal } from "../../../core/may.ts";
import { type Fault, faultInWords } from "../../../core/result.ts";
import { deniedTexts } from "../shared/denied-texts.ts";

/** The type, name and value that the client sent for the record or zone. */
export type FaultSubject = { readonly type?: string; readonly name?: string; readonly value?: string };

/** One message for all faults, in the original's words; where those say little, moor's own follow. */
export function errorOf(faults: readonly Fault[], subject: FaultSubject): WireError {
  return { message: messageOfAll(faults, subject), code: 422 };
}

export function messageOfAll(faults: readonly Fault[], subject: FaultSubject): string {
  // A CNAME at the apex also clashes with the SOA, but clients compare the whole text of this message.
  const apex = faults.some(({ code }) => code === "cname-at-apex");
  const shown = apex ? faults.filter(({ code }) => code !== "cname-and-other") : faults;
  const messages = new Set(shown.map((fault) => messageOf(fault, subject)));
  return [...messages].reduce((all, next) => `${all.trimEnd()} ${next}`);
}

/** For zone files: each fault with its line. */
export function fileErrorOf(faults: readonly Fault[]): WireError {
  const lines = faults.map(({ where, message }) => `${where}: ${message}; `);
  return { message: `422 Unprocessable Entity: invalid: ${lines.join("")}`, code: 422 };
}

function messageOf(fault: Fault, { type, name, value }: FaultSubject): string {
  switch (fault.code) {
    case "duplicate-value":
      return `422 Unprocessable Entity: taken: ${value}; `;
    case "cname-and-other":
      return `422 Unprocessable Entity: taken  ${name}`;
    case "cname-at-apex":
      return "422 Unprocessable Entity: invalid: CNAME not allowed for zone apex @; ";
    case "out-of-zone":
      return "422 Unprocessable Entity: invalid: out of zone data .; ";
    case "zone-taken":
      return "zone already exists";
    case "zone-not-granted":
    case "name-reserved":
      // The answer has no separate field for what to do.
      return `422 Unprocessable Entity: invalid: ${faultInWords(fault)}; `;
    case "zone-missing":
      return "zone not found";
    case "type-not-allowed":
    case "soa-stays":
      return "record type not allowed";
    case "private-address":
      return "422 Unprocessable Entity: invalid is a private IP address";
    case "server-taken":
      return "422 Unprocessable Entity: taken ";
    case "bulk-too-long":
    case "given-twice":
    case "name-stays":
    case "zone-stays":
    case "set-locked":
    case "zone-locked":
    case "zone-is-secondary":
    case "zone-has-records":
    case "bad-address":
    case "bad-port":
      return `422 Unprocessable Entity: invalid: ${fault.message}; `;
    case "address-for-name":
      return `invalid ${type} record: ${fault.message}; `;
    case "missing-key":
      return `422 Unprocessable Entity: missing: ${fault.where}; `;
    case "bad-key":
    case "bad-ttl":
      return `422 Unprocessable Entity: invalid: ${fault.message}; `;
    default:
      return fault.where.startsWith("value") ? `invalid ${type} record` : nameMessage(fault, type !== undefined);
  }
}

function nameMessage(fault: Fault, ofRecord: boolean): string {
  switch (fault.code) {
    case "empty-name":
      return "422 : empty zone name";
    case "single-label":
      return "422 : invalid zone name";
    case "label-starts-with-dash":
      return "422 Unprocessable Entity: invalid label must not start with a dash";
    case "bad-character":
      return ofRecord
        ? "422 Unprocessable Entity: invalid ASCII character:  ; "
        : "422 Unprocessable Entity: invalid invalid character for domain name";
    default:
      return `422 Unprocessable Entity: invalid: ${fault.message}; `;
  }
}

/** In the shape of the original's gateway, without an `error` object. */
export const deniedBody = (because: Refusal): { message: string } => ({ message: deniedTexts[because] });
