import { type Answer, type AnswerSet, answerQuestion, type QuestionType } from "../core/answer.ts";
import type { Label } from "../core/label.ts";
import { rdataToWire } from "../core/rdata/rdata.ts";
import { typeCode, typeFromCode } from "../core/rdata/table.ts";
import { rdataOf, type ViewSet } from "../core/zone-view.ts";
import { classes, flags, rcodes, types } from "./codes.ts";
import type { LoadedZone } from "./loaded-zones.ts";
import { createMessageWriter, type MessageWriter } from "./message-writer.ts";

/** An answer as bytes: the id, the case of the question and the OPT record are all that one client's differs in. */
export type Prepared = {
  readonly bytes: Buffer;
  /** Where the records begin that may be left out when there is no room (RFC 2181 section 9). */
  readonly withoutExtras: number;
  /** Where the question ends. */
  readonly questionEnd: number;
  /** Worth keeping, and safe to. */
  readonly keep: boolean;
  readonly rests: RestsOn;
};

/** On what an answer rests; see `Answer.open`. */
type RestsOn = {
  readonly zone: LoadedZone;
  readonly below: number;
  readonly cuts: number;
  /** Undefined when sets may come and go without changing the answer. */
  readonly shape: number | undefined;
  readonly sets: readonly ViewSet[];
};

/** Whether what was prepared is still what the zone would answer. */
export function stillHolds({ rests }: Prepared): boolean {
  const { zone, sets, shape } = rests;
  if (!zone.current || rests.below !== zone.below || rests.cuts !== zone.view.cuts) return false;
  if (shape !== undefined && shape !== zone.view.shape) return false;
  for (const set of sets) if (set.gone) return false;
  return true;
}

/** Undefined when the answer is larger than any message. */
export function prepareAnswer(zone: LoadedZone, name: readonly Label[], type: number): Prepared | undefined {
  const { below } = zone;
  const { cuts, shape } = zone.view;
  const answer = answerQuestion(zone.view, name, questionType(type));
  const writer = createMessageWriter();
  writer.u16(0);
  writer.u16(flags.response | (answer.kind === "referral" ? 0 : flags.authoritative) | rcodeOf(answer));
  writer.u16(1);
  writer.u16(countRecords(answer.answer));
  writer.u16(countRecords(answer.authority));
  writer.u16(countRecords(answer.additional));
  writer.name(name);
  writer.u16(type);
  writer.u16(classes.in);
  const questionEnd = writer.length();
  writeSets(writer, answer.answer);
  writeSets(writer, answer.authority);
  const beforeAdditional = writer.length();
  writeSets(writer, answer.additional);
  if (!writer.fits()) return undefined;
  const sets = [...answer.answer, ...answer.authority, ...answer.additional].map((each) => each.set);
  return {
    bytes: Buffer.from(writer.finish()),
    // A referral without its glue leads nowhere: then the answer counts as cut (RFC 9471 section 3.1).
    withoutExtras: isReferral(answer) ? writer.length() : beforeAdditional,
    questionEnd,
    keep: !answer.forManyNames && !isOfParent(zone, name, type),
    rests: { zone, below, cuts, shape: answer.open ? shape : undefined, sets },
  };
}

/** A zone's own DS set is its parent's, which may come here without touching this zone. */
const isOfParent = (zone: LoadedZone, name: readonly Label[], type: number): boolean =>
  type === types.ds && name.length === zone.view.labels.length;

const questionType = (code: number): QuestionType => (code === types.any ? "ANY" : typeFromCode(code));

const isReferral = (answer: Answer): boolean => answer.kind === "referral" || answer.end === "referral";

function rcodeOf(answer: Answer): number {
  switch (answer.kind) {
    case "no-name":
      return rcodes.nxDomain;
    case "alias":
      // RFC 6604 section 3: the code speaks of the last name of the chain.
      return answer.end === "no-name" ? rcodes.nxDomain : rcodes.noError;
    case "not-ours":
      return rcodes.refused;
    case "found":
    case "referral":
    case "no-data":
      return rcodes.noError;
  }
}

const countRecords = (sets: readonly AnswerSet[]): number => sets.reduce((sum, { set }) => sum + set.values.length, 0);

function writeSets(writer: MessageWriter, sets: readonly AnswerSet[]): void {
  for (const { name, ttl, set } of sets) {
    const type = typeCode(set.type);
    for (const rdata of rdataOf(set)) {
      writer.record({ labels: name, type, class: classes.in, ttl, data: rdataToWire(rdata) });
    }
  }
}
