import { printLabels } from "../../../src/core/names/label.ts";
import { labelsOf } from "../../../src/core/names/name.ts";
import { genericOfBytes } from "../../../src/core/rdata/fields/hex.ts";
import { typeFromCode } from "../../../src/core/rdata/table.ts";
import { type AnswerSet, answerQuestion, type QuestionType } from "../../../src/core/records/answer.ts";
import { isPacked, isSignatures } from "../../../src/core/records/packed-sets.ts";
import { wireOf, type ZoneView } from "../../../src/core/records/zone-view.ts";

export const printSets = (sets: readonly AnswerSet[]): string[] =>
  sets.flatMap(({ name, ttl, set }) => dataIn(set).map((data) => `${printLabels(name)}. ${ttl} ${data}`));

/** Of signatures, only the covered type. */
const dataIn = (set: AnswerSet["set"]): readonly string[] =>
  isSignatures(set)
    ? wireOf(set).map(() => `RRSIG ${typeFromCode(set.covers)}`)
    : isPacked(set)
      ? wireOf(set).map((data) => `${set.type} ${genericOfBytes(data)}`)
      : set.values.map((value) => `${set.type} ${value}`);

/** What dig would show: the outcome, then the lines of each section. */
export function dig(zone: ZoneView, name: string, type: QuestionType, dnssecOk?: boolean): string[] {
  const { kind, end, answer, authority, additional } = answerQuestion(zone, labelsOf(name), type, dnssecOk);
  const section = (title: string, sets: readonly AnswerSet[]) => printSets(sets).map((line) => `${title} ${line}`);
  return [
    end ? `${kind} ${end}` : kind,
    ...section("answer", answer),
    ...section("authority", authority),
    ...section("additional", additional),
  ];
}
