import { typeCode } from "../../core/rdata/table.ts";
import type { AnswerSet } from "../../core/records/answer.ts";
import { wireOf } from "../../core/records/zone-view.ts";
import { classes } from "../../process/dns/codes.ts";
import type { MessageWriter } from "../../process/dns/message-writer.ts";

export function writeSets(writer: MessageWriter, sets: readonly AnswerSet[]): void {
  for (const { name, ttl, set } of sets) {
    const type = typeCode(set.type);
    for (const data of wireOf(set)) writer.record({ labels: name, type, class: classes.in, ttl, data });
  }
}
