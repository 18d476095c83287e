import type { Family } from "./address.ts";
import {
  type AddressPolicy,
  type Choice,
  type Considered,
  chooseAddress,
  type ExplainedChoice,
} from "./choose-address.ts";
import type { InterfaceReport } from "./interface-report.ts";

/** Everything but the interface. */
export type ChoicePolicy = Omit<AddressPolicy, "device">;

export type OrderedPolicy = ChoicePolicy & {
  /** In order of preference: the first that is up and has a suitable address is taken. */
  readonly devices: readonly string[];
};

export type OrderedChoice = {
  readonly choice: Choice;
  /** The interface that the choice is about: the one taken, or else the one whose reason says the most. */
  readonly device: string;
  /** The source of this interface, if there are several sources. */
  readonly source?: string;
  readonly considered: readonly Considered[];
  /** The interfaces before the one that was taken, or all if none was, and why each was passed over. */
  readonly passedOver: readonly PassedOver[];
};

export type PassedOver = {
  readonly device: string;
  readonly source?: string;
  readonly because: "unreadable" | "not-there" | "down" | "gateway-down" | "no-fit-address";
  readonly considered: readonly Considered[];
};

/** One interface of one source. Without a report, the source could not be read, and `unknown` says why. */
export type InterfaceCandidate = { readonly device: string; readonly source?: string } & (
  | { readonly report: InterfaceReport }
  | { readonly unknown: string }
);

/** `isAlone`: there is no alternative, so the candidate is used even if it is down. */
export function chooseInOrder(
  candidates: readonly InterfaceCandidate[],
  policy: ChoicePolicy,
  isAlone = candidates.length < 2,
): OrderedChoice {
  const tried: Tried[] = [];
  for (const candidate of candidates) {
    const explained = chooseFrom(candidate, policy);
    const because = isAlone ? undefined : reasonAgainst(explained.choice, candidate, policy.family);
    if (!because) return { ...explained, ...nameOf(candidate), passedOver: tried.map(({ passedOver }) => passedOver) };
    tried.push({ explained, passedOver: { ...nameOf(candidate), because, considered: explained.considered } });
  }
  const passedOver = tried.map((each) => each.passedOver);
  // A candidate that is known to have no address says more than one that could not be read.
  const readable = tried.find(({ passedOver: { because } }) =>
    ["down", "gateway-down", "no-fit-address"].includes(because),
  );
  const first = readable ?? tried.find((each) => each.passedOver.because === "not-there") ?? tried[0];
  if (!first) return { choice: { kind: "unknown", because: "" }, device: "", considered: [], passedOver };
  const { choice, considered } = first.explained;
  const none: Choice = choice.kind === "address" ? { kind: "none", because: "no-fit-address" } : choice;
  return { choice: none, considered, ...nameOf(first.passedOver), passedOver };
}

type Tried = { readonly explained: ExplainedChoice; readonly passedOver: PassedOver };

const nameOf = ({ device, source }: { readonly device: string; readonly source?: string }) =>
  source === undefined ? { device } : { device, source };

const chooseFrom = (candidate: InterfaceCandidate, policy: ChoicePolicy): ExplainedChoice =>
  "report" in candidate
    ? chooseAddress(candidate.report, { ...policy, device: candidate.device })
    : { choice: { kind: "unknown", because: candidate.unknown }, considered: [] };

function reasonAgainst(
  choice: Choice,
  candidate: InterfaceCandidate,
  family: Family,
): PassedOver["because"] | undefined {
  if (choice.kind === "unknown") return "unreadable";
  if (choice.kind === "unknown-interface") return "not-there";
  const device = "report" in candidate ? candidate.report.get(candidate.device) : undefined;
  if (device?.up === false) return "down";
  if (device?.deadGateways?.includes(family)) return "gateway-down";
  return choice.kind === "address" ? undefined : "no-fit-address";
}
