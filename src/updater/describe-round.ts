import type { Considered } from "../core/choose-address.ts";
import type { UpdateResult } from "./apply-round.ts";
import type { PlannedUpdate } from "./plan-round.ts";

/** What one update came to, for a log line, a table row or an exit code. */
export type Summary = {
  readonly kind: "done" | "planned" | "nothing" | "waiting" | "none" | "failed";
  readonly what: string;
  readonly because: string;
  readonly todo?: string;
};

/** `sent` is false for a plan that is only shown. */
export function summarise(result: UpdateResult, sent: boolean): Summary {
  const { plan, outcome } = result;
  if (outcome?.kind === "replaced") return replaced(result);
  if (outcome) return { kind: "failed", what: "not replaced", because: outcome.because, todo: outcome.todo };
  switch (plan.kind) {
    case "replace":
      return sent
        ? { kind: "failed", what: "not replaced", because: "stopped before it was sent" }
        : { kind: "planned", what: `would be replaced by ${plan.address.text}`, because: change(result) };
    case "wait":
      return {
        kind: "waiting",
        what: `waits until ${new Date(plan.until).toISOString()}`,
        because: `to be replaced by ${plan.address.text}, but the record service is not to be asked before`,
      };
    case "nothing":
      return nothing(result, plan.because);
    default:
      return plan satisfies never;
  }
}

function replaced(result: UpdateResult): Summary {
  const address = result.plan.kind === "replace" ? result.plan.address.text : "";
  if (result.unsaved === undefined) return { kind: "done", what: `replaced by ${address}`, because: change(result) };
  return {
    kind: "failed",
    what: `replaced by ${address}`,
    because: `but the state file could not be written (${result.unsaved}): a restart would write it again`,
    todo: "make room or mend the permissions there",
  };
}

function change({ plan, stored, subject }: PlannedUpdate): string {
  const before = stored === undefined ? "none was stored" : `stored was ${stored}`;
  const warning = plan.kind === "replace" && plan.warning ? `; careful: ${scopeWords[plan.warning]}` : "";
  return `${subject.device} has it, ${before}${warning}`;
}

const scopeWords = {
  private: "a private address, no use outside its network",
  cgnat: "an address of the provider's NAT, no use from the internet",
  ula: "a unique local address, no use outside its network",
  documentation: "an address meant for documentation",
  reserved: "an address of a reserved range",
} as const;

function nothing(
  result: PlannedUpdate,
  because: "same-as-stored" | "no-address" | "unknown" | "not-publishable",
): Summary {
  const what = "left as it is";
  switch (because) {
    case "same-as-stored":
      return { kind: "nothing", what, because: `${result.stored} is what was stored last` };
    case "no-address":
    case "not-publishable":
      return { kind: "none", what, because: `${result.subject.device} has no fit address${seen(result.considered)}` };
    case "unknown":
      return { kind: "failed", what, because: "the address is not known", ...result.trouble };
    default:
      return because satisfies never;
  }
}

const seen = (considered: readonly Considered[]) =>
  considered.length === 0
    ? ""
    : `: ${considered.map(({ text, verdict }) => `${text} is ${refusalWords[verdict]}`).join(", ")}`;

export const refusalWords: Readonly<Record<Considered["verdict"], string>> = {
  taken: "taken",
  malformed: "no address",
  "wrong-family": "of the other family",
  unspecified: "unspecified",
  loopback: "loopback",
  "link-local": "link-local",
  multicast: "multicast",
  deprecated: "deprecated",
  tentative: "tentative",
  detached: "detached",
  "not-first": "not the first",
  "ula-behind-global": "unique local, and there is a global one",
  "reserved-behind-others": "reserved, and there is a better one",
  "shorter-lifetime": "valid for a shorter time",
  "later-in-report": "as good, but later in the report",
};
