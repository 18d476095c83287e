import { rdataToWire } from "../../core/rdata/rdata.ts";
import { readRdata } from "../../core/rdata/read-rdata.ts";
import { typeCode } from "../../core/rdata/table.ts";
import type { AnswerSet } from "../../core/records/answer.ts";
import { isPacked } from "../../core/records/packed-sets.ts";
import { countRecords, type ViewSet, wireOf } from "../../core/records/zone-view.ts";
import { classes } from "../../lib/dns/codes.ts";
import { compressibleLayout, createBlock, type MessageWriter, type RecordBlock } from "../../lib/dns/message-writer.ts";

/** Stops when the message is full. */
export function writeSets(writer: MessageWriter, sets: readonly AnswerSet[]): void {
  for (const { name, ttl, set } of sets) {
    if (!writer.fits()) return;
    const type = typeCode(set.type);
    if (!isPacked(set) && countRecords(set) >= (compressibleLayout(type) ? manyNames : manyRecords)) {
      writer.block(name, blockOf(set));
      continue;
    }
    for (const data of wireOf(set)) writer.record({ labels: name, type, class: classes.in, ttl, data });
  }
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
  const known = blocks.get(set);
  if (known) return known;
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
