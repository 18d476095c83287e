import type { Considered } from "../../core/addresses/choose-address.ts";
import type { PassedOver } from "../../core/addresses/choose-in-order.ts";
import { firstFew } from "../../core/first-few.ts";
import type { NoUpdate, UpdatePlan, WaitReason } from "../../core/updates/plan-update.ts";
import { utcSecond } from "../../core/utc-text.ts";
import { printable } from "../../core/visible-text.ts";
import type { CurrentContent } from "../../providers/provider-calls.ts";
import { notReadYet } from "../round/choose-for.ts";
import type { ManagedRecord } from "../round/managed-records.ts";
import type { PlannedUpdate } from "../round/plan.ts";
import type { UpdateResult } from "../round/result.ts";
import { onlyDevice } from "../sources/source.ts";
import type { TargetFault, WriteOutcome } from "../targets/target.ts";

/** The result of one update, for a log line, a table row or an exit code. */
export type Summary = {
  readonly kind: "done" | "planned" | "nothing" | "waiting" | "none" | "failed";
  readonly what: string;
  readonly because: string;
  readonly todo?: string;
};

/** Unknown is not a refusal: a reply that was lost or cannot be verified says nothing about the record. */
const failedWords = ({ kind, fault }: Extract<WriteOutcome, { readonly fault: TargetFault }>): string =>
  fault.afterWrite ? "only partly replaced" : kind === "unknown" ? "possibly replaced" : "not replaced";

/** `sent` is false if the plan is only shown. */
export function summarise(result: UpdateResult, sent: boolean): Summary {
  const { plan, outcome } = result;
  if (outcome?.kind === "done") return replaced(result);
  if (outcome?.kind === "same") return same(result);
  if (outcome) {
    const { because, todo } = outcome.fault;
    return { kind: "failed", what: failedWords(outcome), because, todo };
  }
  switch (plan.kind) {
    case "replace":
    case "compare":
      if (result.underWay) return { kind: "waiting", what: "not replaced yet", because: atWork };
      if (sent) return { kind: "failed", what: "not replaced", because: "stopped before it was sent" };
      return { kind: "planned", what: plannedWords[plan.kind](plan.address.text), because: change(result) };
    case "wait":
      return {
        kind: "waiting",
        what: `waits until ${utcSecond(plan.until)}`,
        because: `the ${plan.address.text === result.stored ? "" : "new "}address is ${plan.address.text}, but ${waitWords[plan.because]}`,
      };
    case "nothing":
      return nothing(result, plan.because);
    default:
      return plan satisfies never;
  }
}

const atWork = "the record service has not finished the request";

/** Which address a name would get, regardless of its record. */
export function describeChoice(update: PlannedUpdate): Pick<Summary, "kind" | "because"> {
  const { record, plan, passedOver } = update;
  if ("address" in plan) {
    const of = record.policy.host ? "with the prefix of" : "of";
    return {
      kind: "planned",
      because: `${plan.address.text} ${of} ${nameOf(update)}${instead(passedOver)} would be used${afterPrivate(update)}`,
    };
  }
  const { kind, because, todo } = summarise(update, false);
  return { kind, because: kind === "failed" ? `${because}; ${todo}` : `no address would be used: ${because}` };
}

/** What to do about a record that was changed elsewhere. */
export function driftTodo({ rules: { verify, compare } }: ManagedRecord, wanted: string | null): string {
  if (compare === "record") return "no action needed: moor corrects it in the next round (compare: record)";
  if (verify !== undefined)
    return `no action needed: moor corrects it within ${Math.ceil(verify / 60_000)} min (verify)`;
  const back = wanted === null ? "" : `, or put ${wanted} back`;
  return `set \`verify: 1h\` in the config so that moor corrects such changes within an hour${back}`;
}

const plannedWords = {
  replace: (address: string) => `would be replaced by ${address}`,
  compare: (address: string) => `would be read, and replaced unless it holds ${address}`,
} as const;

const waitWords: Readonly<Record<WaitReason, string>> = {
  "retry-after": "the record service asked moor to wait (Retry-After)",
  quota: "the quota of requests to the record service is nearly used up",
  "back-off": "the last attempt failed",
  "hold-down": "it has not been present for long enough (holdDown)",
  cap: "the record has reached its limit of changes per hour (changesPerHour)",
};

function replaced(result: UpdateResult): Summary {
  const address = addressIn(result.plan);
  if (result.unsaved !== undefined) return unsaved(`replaced by ${address}`, result.unsaved);
  return { kind: "done", what: `replaced by ${address}`, because: change(result) };
}

function same(result: UpdateResult): Summary {
  const address = addressIn(result.plan);
  if (result.unsaved !== undefined) return unsaved("left as it is", result.unsaved);
  return { kind: "nothing", what: "left as it is", because: `the record already holds ${address}` };
}

const unsaved = (what: string, code: string): Summary => ({
  kind: "failed",
  what,
  because: `the state file could not be written (${code}): after a restart, this address would be written again`,
  todo: "free disk space or fix the permissions",
});

const addressIn = (plan: UpdatePlan) => ("address" in plan ? plan.address.text : "");

function change(result: PlannedUpdate & Pick<UpdateResult, "contentBefore">): string {
  const { plan, stored, contentBefore, passedOver, record } = result;
  const before = stored === undefined ? "no address was stored yet" : `the stored address was ${stored}`;
  const contentText =
    contentBefore === undefined ? before : `the record held ${contentWords(contentBefore, record.spec.ttl)}`;
  const warning =
    "warning" in plan && plan.warning ? `; warning: ${addressIn(plan)} is ${scopeWords[plan.warning]}` : "";
  const whose = record.policy.host
    ? `its prefix is that of ${nameOf(result)}`
    : `it is the address of ${nameOf(result)}`;
  return `${whose}${instead(passedOver)}${afterPrivate(result)}; ${contentText}${warning}`;
}

/** With `public: require`, an IPv4 address that is not the first one listed: why those before it were not taken. */
function afterPrivate({ record: { family, policy }, considered }: PlannedUpdate): string {
  const taken = considered.findIndex(({ verdict }) => verdict === "taken");
  if (family !== "ipv4" || policy.public !== "require" || policy.vhid !== undefined || taken < 1) return "";
  return `, the first public one${seen(considered.slice(0, taken))}`;
}

function contentWords({ values, ttl }: CurrentContent, wanted: number | undefined): string {
  const words = firstFew(values.map(printable), " and ") || "nothing";
  if (wanted === undefined || wanted === ttl) return words;
  return `${words} with ${ttl === null ? "the zone's TTL" : `TTL ${ttl}`}`;
}

const instead = (passedOver: readonly PassedOver[]) =>
  passedOver.length === 0
    ? ""
    : ` (${passedOver.map((each) => `${nameOf(each)} ${passedWords[each.because]}`).join(", ")})`;

/** `pppoe0`; with several sources `pppoe0 of home`, or `web` if it knows only one connection. */
const nameOf = ({ device, source }: { readonly device: string; readonly source?: string }): string =>
  source === undefined ? device : device === onlyDevice ? source : `${device} of ${source}`;

const passedWords: Readonly<Record<PassedOver["because"], string>> = {
  unreadable: "cannot be read",
  "not-there": "does not exist",
  down: "is down or has no link",
  "gateway-down": "has a gateway that does not answer",
  "no-fit-address": "has no usable address",
};

const scopeWords = {
  private: "a private address; it is not reachable from the internet",
  cgnat: "a carrier-grade NAT address; it is not reachable from the internet",
  ula: "a unique local address; it is not reachable from the internet",
  documentation: "a documentation address; it is not reachable from the internet",
  reserved: "a reserved address; it is not reachable from the internet",
} as const;

function nothing(result: PlannedUpdate, because: NoUpdate): Summary {
  const what = "left as it is";
  switch (because) {
    case "same-as-stored":
      return { kind: "nothing", what, because: `the address is still ${result.stored}` };
    case "no-address":
    case "not-publishable":
      return { kind: "none", what, because: noAddress(result) };
    case "unknown":
      return result.trouble
        ? { kind: "failed", what, ...result.trouble }
        : { kind: "waiting", what, because: notReadYet(result.record.kindLabel) };
    case "paused":
      return { kind: "nothing", what, because: "it is paused in the config (`paused: true`)" };
    case "not-master":
      return {
        kind: "nothing",
        what,
        because: `this ${result.record.kindLabel} is not the master of VHID ${result.record.rules.carpMaster}`,
      };
    default:
      return because satisfies never;
  }
}

function noAddress(update: PlannedUpdate): string {
  const { considered, passedOver } = update;
  if (passedOver.length < 2) return `${nameOf(update)} has no usable address${seen(considered)}`;
  const others = passedOver.map(({ because, ...each }) => {
    const why = because === "no-fit-address" ? seen(each.considered) : "";
    return `${nameOf(each)} ${passedWords[because]}${why}`;
  });
  return `none of ${passedOver.map(nameOf).join(", ")} can be used; ${others.join("; ")}`;
}

const seen = (considered: readonly Considered[]) =>
  considered.length === 0
    ? ""
    : `: ${firstFew(considered.map(({ text, verdict }) => `${text} is ${refusalWords[verdict]}`))}`;

export const refusalWords: Readonly<Record<Considered["verdict"], string>> = {
  taken: "taken",
  malformed: "not an address",
  "wrong-family": "of the other address family",
  unspecified: "unspecified",
  loopback: "loopback",
  "link-local": "link-local",
  "this-network": "in the range 0.0.0.0/8, which no host can use",
  multicast: "multicast",
  broadcast: "the broadcast address",
  deprecated: "deprecated",
  tentative: "tentative",
  detached: "detached",
  private: "private, but only public ones are allowed",
  cgnat: "a carrier-grade NAT address, but only public ones are allowed",
  ula: "unique local, but only public ones are allowed",
  documentation: "a documentation address, but only public ones are allowed",
  reserved: "reserved, but only public ones are allowed",
  "other-vhid": "not the address of the VHID",
  "no-prefix": "without a usable prefix",
  "prefix-only": "a prefix for machines behind the router: set `host:` to use it",
  "not-first": "not the first one listed",
  "ula-behind-global": "unique local, but there is a global one",
  "reserved-behind-others": "reserved, but there is a better one",
  "virtual-behind-own": "virtual, but the interface has its own address",
  "temporary-behind-permanent": "temporary, but there is a permanent one",
  "shorter-lifetime": "valid for a shorter time than another",
  "behind-published": "as good as another, which is already published",
  "later-in-report": "as good as another, which is listed first",
};
