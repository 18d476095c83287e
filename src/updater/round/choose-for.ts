import type { Family } from "../../core/addresses/address.ts";
import { type Candidate, chooseAmong, type OrderedChoosing } from "../../core/addresses/choose-in-order.ts";
import { firstFew } from "../../core/first-few.ts";
import type { SourceReading, WhyUnknown } from "../sources/source.ts";
import { type Origin, originsOf, type Subject } from "./subjects.ts";

/** `trouble`: set if something was read but the address is unknown: why, and what to do. */
export type Chosen = OrderedChoosing & { readonly trouble?: WhyUnknown };

type Readings = ReadonlyMap<string, SourceReading>;

/** `called`: what messages call the source. */
export const notReadYet = (called: string) => `the ${called} has not answered yet`;

/** The address for a name, from the latest reading of each of its sources. `published`: what was chosen before. */
export function chooseFor(subject: Subject, readings: Readings, published: readonly string[]): Chosen {
  const origins = originsOf(subject);
  const { devices: _, ...rest } = subject.policy;
  const policy = { ...rest, published };
  if (subject.agree !== undefined) return chooseAgreed(origins, subject.agree, policy, readings);
  const unread = origins.findIndex(({ source }) => !readings.has(source));
  const read = unread < 0 ? origins : origins.slice(0, unread);
  const candidates = read.flatMap((origin) => {
    const name = origins.length > 1 ? { source: origin.source } : {};
    return candidatesOf(origin, policy.family, readings).map((candidate) => ({ ...candidate, ...name }));
  });
  const chosen = chooseAmong(candidates, policy, isAlone(origins));
  const next = origins[unread];
  // A source later in the order is used only when it is known that the earlier ones have no usable address.
  if (next && chosen.choice.kind !== "address") return unreadChoice(next);
  return withTrouble(chosen, origins, policy.family, readings);
}

const isAlone = (origins: readonly Origin[]) => origins.length === 1 && origins[0]?.devices.length === 1;

function candidatesOf({ source, devices }: Origin, family: Family, readings: Readings): readonly Candidate[] {
  const reading = readings.get(source);
  const unknown = whyUnknown(reading, family);
  return devices.map((device): Candidate => {
    if (reading?.kind !== "report" || unknown) return { device, unknown: unknown?.because ?? "" };
    return { device, report: reading.report };
  });
}

function whyUnknown(reading: SourceReading | undefined, family: Family): WhyUnknown | undefined {
  return reading?.kind === "unavailable" ? reading : reading?.unknown?.[family];
}

const unreadChoice = ({ source, called, devices: [device = ""] }: Origin): Chosen => ({
  choice: { kind: "unknown", because: notReadYet(called) },
  device,
  source,
  considered: [],
  passedOver: [],
});

function withTrouble(chosen: OrderedChoosing, origins: readonly Origin[], family: Family, readings: Readings): Chosen {
  const { choice } = chosen;
  const origin = origins.find(({ source }) => source === chosen.source) ?? origins[0];
  const unknown = whyUnknown(readings.get(origin?.source ?? ""), family);
  if (choice.kind === "unknown" && unknown) {
    return { ...chosen, trouble: { because: unknown.because, todo: unknown.todo } };
  }
  if (choice.kind !== "unknown-interface") return chosen;
  const because = `the ${origin?.called} ${origin?.source} has no interface ${choice.device}`;
  const todo = choice.known.length === 0 ? "it reports no interfaces" : `its interfaces are ${firstFew(choice.known)}`;
  return { ...chosen, trouble: { because, todo } };
}

type Policy = Parameters<typeof chooseAmong>[1];

/** The address that enough sources choose independently of each other. */
function chooseAgreed(origins: readonly Origin[], agree: number, policy: Policy, readings: Readings): Chosen {
  const chosen = origins.map((origin) => {
    if (!readings.has(origin.source)) return { origin, ...unreadChoice(origin) };
    return { origin, ...chooseAmong(candidatesOf(origin, policy.family, readings), policy, isAlone([origin])) };
  });
  const votes = Map.groupBy(chosen, ({ choice }) => (choice.kind === "address" ? choice.address.text : undefined));
  const enough = [...votes].filter(([text, those]) => text !== undefined && those.length >= agree);
  const winner = enough.length === 1 ? enough[0]?.[1][0] : undefined;
  if (winner) {
    const { origin, ...choosing } = winner;
    return { ...choosing, source: origin.source };
  }
  const unread = origins.find(({ source }) => !readings.has(source));
  if (unread) return unreadChoice(unread);
  const words = chosen.map(({ origin, choice }) => `${origin.source} ${choiceInWords[choice.kind](choice as never)}`);
  const because = `${agree} of the sources must agree on one address: ${words.join(", ")}`;
  const { device = "", considered = [] } = chosen[0] ?? {};
  const trouble = { because, todo: "`moor interfaces --source NAME` shows what each of them reports" };
  return { choice: { kind: "unknown", because }, device, considered, passedOver: [], trouble };
}

type Choice = OrderedChoosing["choice"];

const choiceInWords: { readonly [K in Choice["kind"]]: (choice: Extract<Choice, { kind: K }>) => string } = {
  address: ({ address }) => `reports ${address.text}`,
  none: () => "has no usable address",
  unknown: () => "cannot be read",
  "unknown-interface": ({ device }) => `has no interface ${device}`,
};
