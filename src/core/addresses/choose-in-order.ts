import type { Family } from "./address.ts";
import { type AddressPolicy, type Choice, type Choosing, type Considered, chooseAddress } from "./choose-address.ts";
import type { InterfaceReport } from "./interface-report.ts";

export type OrderedPolicy = Omit<AddressPolicy, "device"> & {
  /** In order of preference: the first that is up and has a suitable address is taken. */
  readonly devices: readonly string[];
};

export type OrderedChoosing = {
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
export type Candidate = { readonly device: string; readonly source?: string } & (
  | { readonly report: InterfaceReport }
  | { readonly unknown: string }
);

type Policy = Omit<AddressPolicy, "device">;

export const chooseInOrder = (report: InterfaceReport, { devices, ...policy }: OrderedPolicy): OrderedChoosing =>
  chooseAmong(
    devices.map((device) => ({ device, report })),
    policy,
  );

/** `isAlone`: there is no alternative, so the candidate is used even if it is down. */
export function chooseAmong(
  candidates: readonly Candidate[],
  policy: Policy,
  isAlone = candidates.length < 2,
): OrderedChoosing {
  const tried: Tried[] = [];
  for (const candidate of candidates) {
    const choosing = chooseFrom(candidate, policy);
    const because = isAlone ? undefined : reasonAgainst(choosing.choice, candidate, policy.family);
    if (!because) return { ...choosing, ...nameOf(candidate), passedOver: tried.map(({ passedOver }) => passedOver) };
    tried.push({ choosing, passedOver: { ...nameOf(candidate), because, considered: choosing.considered } });
  }
  const passedOver = tried.map((each) => each.passedOver);
  // A candidate that is known to have no address says more than one that could not be read.
  const known = tried.find(({ passedOver: { because } }) =>
    ["down", "gateway-down", "no-fit-address"].includes(because),
  );
  const first = known ?? tried.find((each) => each.passedOver.because === "not-there") ?? tried[0];
  if (!first) return { choice: { kind: "unknown", because: "" }, device: "", considered: [], passedOver };
  const { choice, considered } = first.choosing;
  const none: Choice = choice.kind === "address" ? { kind: "none", because: "no-fit-address" } : choice;
  return { choice: none, considered, ...nameOf(first.passedOver), passedOver };
}

type Tried = { readonly choosing: Choosing; readonly passedOver: PassedOver };

const nameOf = ({ device, source }: { readonly device: string; readonly source?: string }) =>
  source === undefined ? { device } : { device, source };

const chooseFrom = (candidate: Candidate, policy: Policy): Choosing =>
  "report" in candidate
    ? chooseAddress(candidate.report, { ...policy, device: candidate.device })
    : { choice: { kind: "unknown", because: candidate.unknown }, considered: [] };

function reasonAgainst(choice: Choice, candidate: Candidate, family: Family): PassedOver["because"] | undefined {
  if (choice.kind === "unknown") return "unreadable";
  if (choice.kind === "unknown-interface") return "not-there";
  const device = "report" in candidate ? candidate.report.get(candidate.device) : undefined;
  if (device?.up === false) return "down";
  if (device?.deadGateways?.includes(family)) return "gateway-down";
  return choice.kind === "address" ? undefined : "no-fit-address";
}
