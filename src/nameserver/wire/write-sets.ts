import { rdataToWire } from "../../core/rdata/rdata.ts";
import { readRdata } from "../../core/rdata/read-rdata.ts";
import { typeCode } from "../../core/rdata/table.ts";
import type { AnswerSet } from "../../core/records/answer.ts";
import { isPacked, packedRecords } from "../../core/records/packed-sets.ts";
import { countRecords, type ViewSet, wireOf } from "../../core/records/zone-view.ts";
import { classes, maximumMessage } from "../../lib/dns/codes.ts";
import { bareOptLength } from "../../lib/dns/edns.ts";
import { compressibleLayout, createBlock, type MessageWriter, type RecordBlock } from "../../lib/dns/message-writer.ts";

/** Stops when the message is full. */
export function writeSets(writer: MessageWriter, sets: readonly AnswerSet[]): void {
  for (const { name, ttl, set } of sets) {
    if (!writer.fits()) return;
    const type = typeCode(set.type);
    if (isPacked(set)) {
      for (const text of packedRecords(set)) {
        if (!writer.fits()) return;
        writer.packedRecord({ labels: name, type, class: classes.in, ttl }, text);
      }
      continue;
    }
    if (countRecords(set) >= (compressibleLayout(type) ? manyNames : manyRecords)) {
      writer.block(name, blockOf(set));
      continue;
    }
    for (const data of wireOf(set)) writer.record({ labels: name, type, class: classes.in, ttl, data });
  }
}

/** The records that were written, and where the last of them ends. */
export type WrittenGlue = { readonly records: number; readonly end: number };

/**
 * Addresses of a referral, over TCP: there is no larger message in which all of them would fit, and some resolvers
 * refuse a truncated reply over TCP. If they are too many, each set is cut to its first addresses.
 */
export function writeGlue(writer: MessageWriter, sets: readonly AnswerSet[]): WrittenGlue {
  const all = sets.reduce((sum, { set }) => sum + countRecords(set), 0);
  const fits = writer.length() + all * glueLength <= room;
  let written = { records: 0, end: writer.length() };
  for (const each of sets) {
    const set = fits || isPacked(each.set) ? each.set : firstAddresses(each.set);
    writeSets(writer, [{ ...each, set }]);
    if (!writer.fits() || writer.length() > room) return written;
    written = { records: written.records + countRecords(set), end: writer.length() };
  }
  return written;
}

const room = maximumMessage - bareOptLength;
/** An AAAA record whose owner is a pointer. */
const glueLength = 28;
/** The addresses of twenty hosts, of both families, then fit in a message beside their names. */
const mostAddresses = 50;

const cutSets = new WeakMap<ViewSet, ViewSet>();

function firstAddresses(set: ViewSet): ViewSet {
  if (set.values.length <= mostAddresses) return set;
  const cachedBlock = cutSets.get(set);
  if (cachedBlock) return cachedBlock;
  const { type, ttl, gone } = set;
  const cut = { type, ttl, gone, values: set.values.slice(0, mostAddresses), rdata: undefined, wire: undefined };
  cutSets.set(set, cut);
  return cut;
}

/**
 * Larger sets are copied into an answer as a whole: any name may get them from a wildcard, and a referral may have
 * dozens as glue.
 */
const manyRecords = 4;
/**
 * The same for sets of names: those in a block cannot point to names before it, so smaller sets would take more room in
 * a datagram.
 */
const manyNames = 64;

const blocks = new WeakMap<ViewSet, RecordBlock>();

/** Encoded once, and copied into each answer. */
function blockOf(set: ViewSet): RecordBlock {
  const cachedBlock = blocks.get(set);
  if (cachedBlock) return cachedBlock;
  const { ttl, values } = set;
  const type = typeCode(set.type);
  // Not by `wireOf`, which would keep every record a second time.
  const records = values
    .values()
    .map((text) => ({ type, class: classes.in, ttl, data: rdataToWire(readRdata(set.type, text)) }));
  const block = createBlock(records);
  blocks.set(set, block);
  return block;
}
