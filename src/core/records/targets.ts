import type { Label } from "../names/label.ts";
import { labelsOf } from "../names/name.ts";
import { readRdata } from "../rdata/read-rdata.ts";
import type { RecordType } from "../rdata/table.ts";
import { answerLimits } from "./answer-work.ts";
import { dname, targetOfDname } from "./dname.ts";
import { type ViewSet, wireOf } from "./zone-view.ts";

/**
 * The names that the first records of a set point to, for the types where an answer depends on them; others have none.
 */
export function targetsOf(set: ViewSet): readonly (readonly Label[])[] {
  set.targets ??= readTargets(set);
  return set.targets;
}

function readTargets(set: ViewSet): readonly (readonly Label[])[] {
  if (set.type === dname) {
    const target = targetOfDname(wireOf(set)[0]);
    return target ? [target] : [];
  }
  const field = targetField[set.type];
  if (field === undefined) return [];
  const first = set.values.slice(0, answerLimits.hosts);
  const names = new Set(first.map((text) => String(readRdata(set.type, text).fields[field])));
  return Array.from(names, (name) => labelsOf(name.slice(0, -1)));
}

const targetField: Readonly<Partial<Record<RecordType, string>>> = {
  NS: "host",
  MX: "exchange",
  SRV: "target",
  CNAME: "target",
};
