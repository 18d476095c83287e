import type { Family } from "../../core/addresses/address.ts";
import {
  type ChoicePolicy,
  chooseInOrder,
  type InterfaceCandidate,
  type OrderedChoice,
} from "../../core/addresses/choose-in-order.ts";
import { firstFew } from "../../core/first-few.ts";
import type { SourceReading, WhyUnknown } from "../sources/source.ts";
import { type ManagedRecord, type RecordSource, sourcesOf } from "./managed-records.ts";

/** `trouble`: set if something was read but the address is unknown: why, and what to do. */
export type RecordChoice = OrderedChoice & { readonly trouble?: WhyUnknown };

type Readings = ReadonlyMap<string, SourceReading>;

/** `kindLabel`: what messages call the source. */
export const notReadYet = (kindLabel: string) => `the ${kindLabel} has not answered yet`;

/** The address for a name, from the latest reading of each of its sources. `previousAddresses`: chosen before. */
export function chooseFor(
  record: ManagedRecord,
  readings: Readings,
  previousAddresses: readonly string[],
): RecordChoice {
  const sources = sourcesOf(record);
  const { devices: _, ...rest } = record.policy;
  const policy = { ...rest, previousAddresses };
  if (record.agree !== undefined) return chooseAgreed(sources, record.agree, policy, readings);
  const unread = sources.findIndex(({ source }) => !readings.has(source));
  const read = unread < 0 ? sources : sources.slice(0, unread);
  const needed = { family: policy.family, gateways: !isAlone(sources) };
  const candidates = read.flatMap((from) => {
    const name = sources.length > 1 ? { source: from.source } : {};
    return candidatesOf(from, needed, readings).map((candidate) => ({ ...candidate, ...name }));
  });
  const chosen = chooseInOrder(candidates, policy, isAlone(sources));
  const next = sources[unread];
  // A source later in the order is used only when it is known that the earlier ones have no usable address.
  if (next && chosen.choice.kind !== "address") return unreadChoice(next);
  return withTrouble(chosen, sources, needed, readings);
}

/** `gateways`: there is an alternative, so that the state of the gateways counts. */
type Needed = { readonly family: Family; readonly gateways: boolean };

const isAlone = (sources: readonly RecordSource[]) => sources.length === 1 && sources[0]?.devices.length === 1;

function candidatesOf(
  { source, devices }: RecordSource,
  needed: Needed,
  readings: Readings,
): readonly InterfaceCandidate[] {
  const reading = readings.get(source);
  const unknown = whyUnknown(reading, needed);
  return devices.map((device): InterfaceCandidate => {
    if (reading?.kind !== "report" || unknown) return { device, unknown: unknown?.because ?? "" };
    return { device, report: reading.report };
  });
}

function whyUnknown(reading: SourceReading | undefined, { family, gateways }: Needed): WhyUnknown | undefined {
  if (reading?.kind !== "report") return reading;
  return reading.unknown?.[family] ?? (gateways && reading.gatewayFault?.isUnknown ? reading.gatewayFault : undefined);
}

const unreadChoice = ({ source, kindLabel, devices: [device = ""] }: RecordSource): RecordChoice => ({
  choice: { kind: "unknown", because: notReadYet(kindLabel) },
  device,
  source,
  considered: [],
  passedOver: [],
});

function withTrouble(
  chosen: OrderedChoice,
  sources: readonly RecordSource[],
  needed: Needed,
  readings: Readings,
): RecordChoice {
  const { choice } = chosen;
  const from = sources.find(({ source }) => source === chosen.source) ?? sources[0];
  const unknown = whyUnknown(readings.get(from?.source ?? ""), needed);
  if (choice.kind === "unknown" && unknown) {
    return { ...chosen, trouble: { because: unknown.because, todo: unknown.todo } };
  }
  if (choice.kind !== "unknown-interface") return chosen;
  const { device, knownDevices } = choice;
  const because = `the ${from?.kindLabel} ${from?.source} has no interface ${device}`;
  const todo = knownDevices.length === 0 ? "it reports no interfaces" : `its interfaces are ${firstFew(knownDevices)}`;
  return { ...chosen, trouble: { because, todo } };
}

/** The address that enough sources choose independently of each other. */
function chooseAgreed(
  sources: readonly RecordSource[],
  agree: number,
  policy: ChoicePolicy,
  readings: Readings,
): RecordChoice {
  const chosen = sources.map((from) => {
    if (!readings.has(from.source)) return { from, ...unreadChoice(from) };
    const needed = { family: policy.family, gateways: !isAlone([from]) };
    return { from, ...chooseInOrder(candidatesOf(from, needed, readings), policy, isAlone([from])) };
  });
  const votes = Map.groupBy(chosen, ({ choice }) => (choice.kind === "address" ? choice.address.text : undefined));
  const enough = [...votes].filter(([text, those]) => text !== undefined && those.length >= agree);
  const winner = enough.length === 1 ? enough[0]?.[1][0] : undefined;
  if (winner) {
    const { from, ...explained } = winner;
    return { ...explained, source: from.source };
  }
  const unread = sources.find(({ source }) => !readings.has(source));
  if (unread) return unreadChoice(unread);
  const words = chosen.map(({ from, choice }) => `${from.source} ${choiceInWords[choice.kind](choice as never)}`);
  const because = `${agree} of the sources must agree on one address: ${words.join(", ")}`;
  const { device = "", considered = [] } = chosen[0] ?? {};
  const trouble = { because, todo: "`moor interfaces --source NAME` shows what each of them reports" };
  return { choice: { kind: "unknown", because }, device, considered, passedOver: [], trouble };
}

type Choice = OrderedChoice["choice"];

const choiceInWords: { readonly [K in Choice["kind"]]: (choice: Extract<Choice, { kind: K }>) => string } = {
  address: ({ address }) => `reports ${address.text}`,
  none: () => "has no usable address",
  unknown: () => "cannot be read",
  "unknown-interface": ({ device }) => `has no interface ${device}`,
};
