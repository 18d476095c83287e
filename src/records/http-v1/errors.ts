import type { WireError } from "../../contract/records-v1.ts";
import type { Refusal } from "../../core/may.ts";
import { type Fault, faultInWords } from "../../core/result.ts";
import { deniedTexts } from "../http/denied-texts.ts";

/** What the v1 API calls a fault. `subject` is what the record or zone was to be: its type, name and value. */
export type Subject = { readonly type?: string; readonly name?: string; readonly value?: string };

/** One message for all faults, in the words that clients of the API know; moor's own words follow where those say little. */
export function errorOf(faults: readonly Fault[], subject: Subject): WireError {
  return { message: messageOfAll(faults, subject), code: 422 };
}

export function messageOfAll(faults: readonly Fault[], subject: Subject): string {
  // At the apex it clashes with the SOA as well, but clients know the one message by its whole text.
  const apex = faults.some(({ code }) => code === "cname-at-apex");
  const shown = apex ? faults.filter(({ code }) => code !== "cname-and-other") : faults;
  const messages = new Set(shown.map((fault) => messageOf(fault, subject)));
  return [...messages].reduce((all, next) => `${all.trimEnd()} ${next}`);
}

/** Of a zone file: each fault with its line. */
export function fileErrorOf(faults: readonly Fault[]): WireError {
  const lines = faults.map(({ where, message }) => `${where}: ${message}; `);
  return { message: `422 Unprocessable Entity: invalid: ${lines.join("")}`, code: 422 };
}

function messageOf(fault: Fault, { type, name, value }: Subject): string {
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
      // There is no other field for what to do.
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

/** The API's gateway answers so, without an `error` object. */
export const deniedBody = (because: Refusal): { message: string } => ({ message: deniedTexts[because] });
