import type { RrsetsError } from "../../../contract/rrsets.ts";
import type { Refusal } from "../../../core/may.ts";
import type { Fault } from "../../../core/result.ts";
import type { NotDone } from "../../queries/permitted-view.ts";
import { deniedTexts } from "../shared/denied-texts.ts";

export type ErrorAnswer = { readonly status: number; readonly body: RrsetsError };

export const errorAnswer = (
  status: number,
  code: string,
  message: string,
  details: RrsetsError["error"]["details"] = null,
): ErrorAnswer => ({ status, body: { error: { code, message, details } } });

/** Why something was not done, in the original's codes and words. */
export function answerTo(notDone: NotDone): ErrorAnswer {
  switch (notDone.kind) {
    case "missing":
      return errorAnswer(404, "not_found", notDone.what === "zone" ? "Zone not found" : "RRSet not found");
    case "denied":
      return deniedAnswer(notDone.because);
    case "refused":
      return refusedAnswer(notDone.faults);
    default:
      return notDone satisfies never;
  }
}

export function deniedAnswer(because: Refusal): ErrorAnswer {
  const text = deniedTexts[because];
  return because === "read-only" ? errorAnswer(401, "token_readonly", text) : errorAnswer(403, "forbidden", text);
}

/** One fault decides the status. Faults that no change to the request can fix come first. */
function refusedAnswer(faults: readonly Fault[]): ErrorAnswer {
  const codes = new Set(faults.map((fault) => fault.code));
  if (codes.has("zone-is-secondary")) return errorAnswer(422, "incorrect_zone_mode", "zone is in secondary mode");
  if (codes.has("zone-is-primary")) return errorAnswer(422, "incorrect_zone_mode", "zone is in primary mode");
  if (codes.has("zone-locked")) return errorAnswer(423, "protected", "Zone is delete protected");
  const locked = faults.filter(({ code }) => code === "set-locked");
  if (locked.length > 0)
    return errorAnswer(423, "protected", "RRSet(s) is/are change protected", { fields: fieldsOf(locked) });
  const conflict = faults.find(({ code }) => code === "serial-moved" || code === "changed-since");
  if (conflict) return errorAnswer(409, "conflict", inWords(conflict));
  const quota = faults.find(({ code }) => code === "over-quota");
  if (quota) return errorAnswer(403, "resource_limit_exceeded", quota.message);
  const unread = faults.find(({ code }) => code === "provider-unread");
  if (unread) return errorAnswer(503, "provider_unavailable", inWords(unread));
  const taken = faults.find(({ code }) => code === "zone-taken" || code === "set-exists");
  if (taken) return errorAnswer(409, "uniqueness_error", taken.message, { fields: [{ name: taken.where }] });
  if (codes.has("records-here")) return errorAnswer(422, "invalid_input", "can't update records with this endpoint");
  return invalidInput(faults);
}

const mostFaults = 20;

function invalidInput(faults: readonly Fault[]): ErrorAnswer {
  const messages = new Set(faults.slice(0, mostFaults).map(inWords));
  return errorAnswer(422, "invalid_input", [...messages].join("; "), { fields: fieldsOf(faults) });
}

const fieldsOf = (faults: readonly Fault[]) =>
  [...Map.groupBy(faults.slice(0, mostFaults), (fault) => fault.where)].map(([name, group]) => ({
    name,
    messages: group.flatMap(({ message, todo }) => (todo === undefined ? [message] : [message, todo])),
  }));

/** Messages about fields have no subject, so that the field can be put before them: `ttl is too small`. */
const inWords = ({ code, where, message }: Fault): string => (code === "bad-input" ? `${where} ${message}` : message);
