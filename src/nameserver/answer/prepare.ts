import type { Label } from "../../core/names/label.ts";
import { typeFromCode } from "../../core/rdata/table.ts";
import { type Answer, type AnswerSet, answerQuestion, type QuestionType } from "../../core/records/answer.ts";
import { isSignatures } from "../../core/records/packed-sets.ts";
import { countRecords, isGone } from "../../core/records/zone-view.ts";
import { classes, flags, headerLength, maximumMessage, rcodes, types } from "../../lib/dns/codes.ts";
import { ednsUdpSize } from "../../lib/dns/edns.ts";
import { MessageWriter } from "../../lib/dns/message-writer.ts";
import type { Transport } from "../wire/read-query.ts";
import { type WrittenGlue, writeGlue, writeSets } from "../wire/write-sets.ts";
import type { LoadedZone } from "./loaded-zones.ts";
import { type CoveringNsec3, createNegativeAuthority, type NegativeAuthority } from "./negative-authority.ts";

/** An answer for any client: only the id, the case of the question and the OPT record differ between clients. */
export type Prepared = WrittenAnswer | NegativeAnswer;

export type WrittenAnswer = {
  readonly kind: "written";
  /** Only valid until the next answer is prepared, unless this one is worth keeping. */
  readonly bytes: Buffer;
  /** The length without the records that may be left out when there is no room (RFC 2181 section 9). */
  readonly withoutExtras: number;
  /** How many additional records are within `withoutExtras`. */
  readonly additionals: number;
  /** Where the question ends. */
  readonly questionEnd: number;
  /** It was written for UDP, and something was left out: all records, or those that may be. */
  readonly isTruncated: boolean;
  /** Undefined when the answer is not worth caching, or not safe to cache. */
  readonly dependsOn: Dependencies | undefined;
};

/** Floods ask for random names, so answers for missing names are assembled from parts instead of encoded each time. */
export type NegativeAnswer = {
  readonly kind: "negative";
  readonly authority: NegativeAuthority;
  /** Follows the authority section. */
  readonly covering?: CoveringNsec3 | undefined;
  /** The flags and the response code. */
  readonly flagsAndRcode: number;
  readonly dependsOn: Dependencies | undefined;
};

/** What a cached answer depends on; see `Answer.dependsOnAbsence`. */
type Dependencies = {
  readonly zone: LoadedZone;
  readonly belowVersion: number;
  readonly delegationVersion: number;
  /** Undefined when adding or removing other sets cannot change the answer. */
  readonly shapeVersion: number | undefined;
  readonly sets: readonly AnswerSet["set"][];
};

/** Whether the zone would still give this answer. */
export function stillHolds({ dependsOn }: Prepared): boolean {
  if (dependsOn === undefined) return false;
  const { zone, sets, shapeVersion } = dependsOn;
  if (
    zone.state !== "current" ||
    dependsOn.belowVersion !== zone.belowVersion ||
    dependsOn.delegationVersion !== zone.view.delegationVersion
  )
    return false;
  if (shapeVersion !== undefined && shapeVersion !== zone.view.shapeVersion) return false;
  for (const set of sets) if (isGone(set)) return false;
  return true;
}

/** Whether this answer, which was prepared for another query, is what a query over this transport gets. */
export const isFor = (prepared: Prepared, transport: Transport): boolean =>
  transport === "udp" || !(prepared.kind === "negative" ? prepared.authority.isOnlyForUdp : prepared.isTruncated);

/** Answers are cached by their name and this. */
export const cacheKindOf = (type: number, dnssecOk: boolean): number => (dnssecOk ? 0x1_0000 : 0) + type;

/** Larger answers, in bytes, are made again for each query: thousands of them would take too much memory. */
const mostCached = 4_096;

export const isWorthCaching = (prepared: Prepared): boolean =>
  prepared.dependsOn !== undefined &&
  (prepared.kind === "written" ? prepared.bytes : prepared.authority.bytes).length <= mostCached;

export const isNoName = (prepared: Prepared): prepared is NegativeAnswer =>
  prepared.kind === "negative" && (prepared.flagsAndRcode & 0xf) === rcodes.nxDomain;

export type QueriedName = {
  readonly key: string;
  readonly name: readonly Label[];
  readonly type: number;
  /** The client wants signatures and proofs, if the zone has them. */
  readonly dnssecOk: boolean;
  readonly transport: Transport;
};

/** Undefined when the answer does not fit in any message. */
export type Prepare = (zone: LoadedZone, question: QueriedName) => Prepared | undefined;

export function createPrepare(): Prepare {
  const scratch = Buffer.allocUnsafeSlow(maximumMessage);
  return (zone, question) => {
    const { belowVersion } = zone;
    const { delegationVersion, shapeVersion } = zone.view;
    const answer = answerQuestion(zone.view, question.name, questionType(question.type), question.dnssecOk);
    const dependsOn =
      answer.forManyNames || isOfParent(zone, question)
        ? undefined
        : {
            zone,
            belowVersion,
            delegationVersion,
            shapeVersion: answer.dependsOnAbsence ? shapeVersion : undefined,
            sets: setsIn(answer),
          };
    if (isNegative(answer)) {
      const authority = authorityFor(zone, answer, question.transport);
      return authority && { kind: "negative", authority, flagsAndRcode: flagsAndRcodeOf(answer), dependsOn };
    }
    return writeAnswer(answer, question, scratch, dependsOn);
  };
}

const setsIn = ({ answer, authority, additional }: Answer): Dependencies["sets"] =>
  [...answer, ...authority, ...additional].map((each) => each.set);

/**
 * Writes no more than the transport can carry: how much a zone has at one name does not matter. What may be left out
 * (`extras`) is written last. Undefined when answer and authority do not fit in any message.
 */
function writeAnswer(
  answer: Answer,
  question: QueriedName,
  scratch: Buffer,
  dependsOn: Dependencies | undefined,
): WrittenAnswer | undefined {
  const isUdp = question.transport === "udp";
  const writer = new MessageWriter(isUdp ? ednsUdpSize : maximumMessage, scratch);
  writeHead(writer, answer, question);
  writeSets(writer, answer.answer);
  writeSets(writer, answer.authority);
  if (!isUdp && !writer.fits()) return undefined;
  // A referral is useless without its glue: if it does not fit, the answer over UDP is truncated (RFC 9471 section
  // 3.1). Over TCP it has what fits, and TC is not set, although the RFC makes no exception: TC asks the client to use
  // another transport, there is none, and Knot Resolver takes TC over TCP for a failed server. A part of the glue is
  // enough to go on.
  // Signatures of addresses may always be left out (RFC 4035 section 3.1.1).
  const needed = isReferral(answer) ? answer.additional.filter(({ set }) => !isSignatures(set)) : [];
  const extras = answer.additional.slice(needed.length);
  const questionEnd = headerLength + question.key.length + 2;
  const glue = isUdp ? writeAllGlue(writer, needed) : writeGlue(writer, needed);
  if (glue === undefined) {
    const bytes = writer.finish().subarray(0, questionEnd);
    bytes.writeUInt16BE(0, additionalCount);
    // Longer than any reply: only the question is sent.
    const withoutExtras = Number.POSITIVE_INFINITY;
    const kept = dependsOn ? Buffer.from(bytes) : bytes;
    return { kind: "written", dependsOn, questionEnd, additionals: 0, isTruncated: true, bytes: kept, withoutExtras };
  }
  const hasAllGlue = glue.records === countAll(needed);
  if (hasAllGlue) writeSets(writer, extras);
  const isComplete = hasAllGlue && writer.fits();
  const bytes = writer.finish().subarray(0, isComplete ? undefined : glue.end);
  if (!isComplete) bytes.writeUInt16BE(glue.records, additionalCount);
  return {
    kind: "written",
    dependsOn,
    questionEnd,
    additionals: glue.records,
    isTruncated: isUdp && !isComplete,
    bytes: dependsOn && bytes.length <= mostCached ? Buffer.from(bytes) : bytes,
    withoutExtras: glue.end,
  };
}

/** Where the header has the number of additional records. */
const additionalCount = 10;

function writeHead(writer: MessageWriter, answer: Answer, { key, name, type }: QueriedName): void {
  writer.u16(0);
  writer.u16(flagsAndRcodeOf(answer));
  writer.u16(1);
  writer.u16(countAll(answer.answer));
  writer.u16(countAll(answer.authority));
  writer.u16(countAll(answer.additional));
  writer.name(name, key.slice(0, -2));
  writer.u16(type);
  writer.u16(classes.in);
}

/** Over UDP; undefined if it does not all fit: then the client retries over TCP. */
function writeAllGlue(writer: MessageWriter, sets: readonly AnswerSet[]): WrittenGlue | undefined {
  writeSets(writer, sets);
  return writer.fits() ? { records: countAll(sets), end: writer.length() } : undefined;
}

/** An authority section without proofs is the same for the whole zone. */
function authorityFor(zone: LoadedZone, { authority }: Answer, transport: Transport): NegativeAuthority | undefined {
  if (authority.length > 1) return createNegativeAuthority(zone.view, authority, transport);
  if (!zone.negativeAuthority || zone.negativeAuthority.sets[0] !== authority[0]?.set)
    zone.negativeAuthority = createNegativeAuthority(zone.view, authority, "tcp");
  return zone.negativeAuthority;
}

const isNegative = ({ kind }: Answer): boolean => kind === "no-name" || kind === "no-data";

const flagsAndRcodeOf = (answer: Answer): number =>
  flags.response | (answer.kind === "referral" ? 0 : flags.authoritative) | rcodeOf(answer);

/** A zone's DS set belongs to its parent, which may be created here without a change to this zone. */
const isOfParent = (zone: LoadedZone, { name, type }: QueriedName): boolean =>
  type === types.ds && name.length === zone.view.labels.length;

const questionType = (code: number): QuestionType => (code === types.any ? "ANY" : typeFromCode(code));

const isReferral = (answer: Answer): boolean => answer.kind === "referral" || answer.end === "referral";

function rcodeOf(answer: Answer): number {
  switch (answer.kind) {
    case "no-name":
      return rcodes.nxDomain;
    case "alias":
      // RFC 6604 section 3: the code is about the last name of the chain.
      return answer.end === "no-name" ? rcodes.nxDomain : answer.end === "too-long" ? rcodes.yxDomain : rcodes.noError;
    case "too-long":
      return rcodes.yxDomain;
    case "not-ours":
      return rcodes.refused;
    case "found":
    case "referral":
    case "no-data":
      return rcodes.noError;
  }
}

/** At most what a header can say; more records do not fit in a message. */
const countAll = (sets: readonly AnswerSet[]): number =>
  Math.min(
    sets.reduce((sum, { set }) => sum + countRecords(set), 0),
    0xffff,
  );
