import type { Label } from "../../core/names/label.ts";
import { typeFromCode } from "../../core/rdata/table.ts";
import { type Answer, type AnswerSet, answerQuestion, type QuestionType } from "../../core/records/answer.ts";
import { isSignatures } from "../../core/records/packed-sets.ts";
import { countRecords, isGone } from "../../core/records/zone-view.ts";
import { classes, flags, headerLength, maximumMessage, rcodes, types } from "../../lib/dns/codes.ts";
import { ednsUdpSize } from "../../lib/dns/edns.ts";
import { createMessageWriter } from "../../lib/dns/message-writer.ts";
import type { Transport } from "../wire/read-query.ts";
import { writeGlue, writeSets } from "../wire/write-sets.ts";
import type { LoadedZone } from "./loaded-zones.ts";
import { createNegativeTail, type LastLink, type NegativeTail } from "./negative-tail.ts";

/** An answer for any client: only the id, the case of the question and the OPT record differ between clients. */
export type Prepared = WrittenAnswer | NegativeAnswer;

type WrittenAnswer = {
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
  readonly isCut: boolean;
  /** Undefined when the answer is not worth caching, or not safe to cache. */
  readonly dependsOn: Dependencies | undefined;
};

/** Floods ask for random names, so answers for missing names are assembled from parts instead of encoded each time. */
export type NegativeAnswer = {
  readonly kind: "negative";
  readonly tail: NegativeTail;
  /** Follows the tail. */
  readonly last?: LastLink | undefined;
  /** The flags and the response code. */
  readonly bits: number;
  readonly dependsOn: Dependencies | undefined;
};

/** What a cached answer depends on; see `Answer.open`. */
type Dependencies = {
  readonly zone: LoadedZone;
  readonly below: number;
  readonly cuts: number;
  /** Undefined when adding or removing other sets cannot change the answer. */
  readonly shape: number | undefined;
  readonly sets: readonly AnswerSet["set"][];
};

/** Whether the zone would still give this answer. */
export function stillHolds({ dependsOn }: Prepared): boolean {
  if (dependsOn === undefined) return false;
  const { zone, sets, shape } = dependsOn;
  if (!zone.current || dependsOn.below !== zone.below || dependsOn.cuts !== zone.view.cuts) return false;
  if (shape !== undefined && shape !== zone.view.shape) return false;
  for (const set of sets) if (isGone(set)) return false;
  return true;
}

/** Whether this answer, which was prepared for another query, is what a query over this transport gets. */
export const isFor = (prepared: Prepared, transport: Transport): boolean =>
  transport === "udp" || prepared.kind === "negative" || !prepared.isCut;

/** Larger answers, in bytes, are made again for each query: thousands of them would take too much memory. */
const mostKept = 4_096;

export const isWorthKeeping = (prepared: Prepared): boolean =>
  prepared.dependsOn !== undefined &&
  (prepared.kind === "written" ? prepared.bytes : prepared.tail.bytes).length <= mostKept;

export const isNoName = (prepared: Prepared): prepared is NegativeAnswer =>
  prepared.kind === "negative" && (prepared.bits & 0xf) === rcodes.nxDomain;

export type AskedName = {
  readonly key: string;
  readonly name: readonly Label[];
  readonly type: number;
  /** The client wants signatures and proofs, if the zone has them. */
  readonly dnssecOk: boolean;
  readonly transport: Transport;
};

/** Undefined when the answer does not fit in any message. */
export type Prepare = (zone: LoadedZone, asked: AskedName) => Prepared | undefined;

export function createPrepare(): Prepare {
  const scratch = Buffer.allocUnsafeSlow(maximumMessage);
  return (zone, asked) => {
    const { below } = zone;
    const { cuts, shape } = zone.view;
    const answer = answerQuestion(zone.view, asked.name, questionType(asked.type), asked.dnssecOk);
    const dependsOn =
      answer.forManyNames || isOfParent(zone, asked)
        ? undefined
        : { zone, below, cuts, shape: answer.open ? shape : undefined, sets: setsIn(answer) };
    if (isNegative(answer)) {
      const tail = tailFor(zone, answer);
      return tail && { kind: "negative", tail, bits: bitsOf(answer), dependsOn };
    }
    return writeAnswer(answer, asked, scratch, dependsOn);
  };
}

const setsIn = ({ answer, authority, additional }: Answer): Dependencies["sets"] =>
  [...answer, ...authority, ...additional].map((each) => each.set);

/** Writes no more than the transport can carry: how much a zone has at one name does not matter. */
function writeAnswer(
  answer: Answer,
  { key, name, type, transport }: AskedName,
  scratch: Buffer,
  dependsOn: Dependencies | undefined,
): WrittenAnswer | undefined {
  const isUdp = transport === "udp";
  const writer = createMessageWriter(isUdp ? ednsUdpSize : maximumMessage, scratch);
  writer.u16(0);
  writer.u16(bitsOf(answer));
  writer.u16(1);
  writer.u16(countAll(answer.answer));
  writer.u16(countAll(answer.authority));
  writer.u16(countAll(answer.additional));
  writer.name(name, key.slice(0, -2));
  writer.u16(type);
  writer.u16(classes.in);
  writeSets(writer, answer.answer);
  writeSets(writer, answer.authority);
  // A referral is useless without its glue: if it does not fit, the answer over UDP is truncated (RFC 9471 section
  // 3.1). Over TCP it has what fits, and TC is not set, although the RFC makes no exception: TC asks the client to use
  // another transport, there is none, and Knot Resolver takes TC over TCP for a failed server. A part of the glue is
  // enough to go on.
  // Signatures of addresses may always be left out (RFC 4035 section 3.1.1).
  const needed = isReferral(answer) ? answer.additional.filter(({ set }) => !isSignatures(set)) : [];
  if (!isUdp && !writer.fits()) return undefined;
  const glue = isUdp ? undefined : writeGlue(writer, needed);
  if (!glue) writeSets(writer, needed);
  const questionEnd = headerLength + key.length + 2;
  const fits = glue !== undefined || writer.fits();
  const withoutExtras = glue?.end ?? writer.length();
  const additionals = glue?.records ?? countAll(needed);
  const isWhole = additionals === countAll(needed);
  if (fits && isWhole) writeSets(writer, answer.additional.slice(needed.length));
  const isCut = !isWhole || !writer.fits();
  const bytes = writer.finish().subarray(0, !fits ? questionEnd : isCut ? withoutExtras : undefined);
  if (isCut) bytes.writeUInt16BE(fits ? additionals : 0, 10);
  return {
    kind: "written",
    dependsOn,
    questionEnd,
    additionals,
    isCut: isCut && isUdp,
    bytes: dependsOn && bytes.length <= mostKept ? Buffer.from(bytes) : bytes,
    // Longer than any reply: only the question is sent.
    withoutExtras: fits ? withoutExtras : Number.POSITIVE_INFINITY,
  };
}

/** Tails without proofs are the same for the whole zone. */
function tailFor(zone: LoadedZone, { authority }: Answer): NegativeTail | undefined {
  if (authority.length > 1) return createNegativeTail(zone.view, authority);
  if (!zone.tail || zone.tail.sets[0] !== authority[0]?.set) zone.tail = createNegativeTail(zone.view, authority);
  return zone.tail;
}

const isNegative = ({ kind }: Answer): boolean => kind === "no-name" || kind === "no-data";

const bitsOf = (answer: Answer): number =>
  flags.response | (answer.kind === "referral" ? 0 : flags.authoritative) | rcodeOf(answer);

/** A zone's DS set belongs to its parent, which may be created here without a change to this zone. */
const isOfParent = (zone: LoadedZone, { name, type }: AskedName): boolean =>
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
