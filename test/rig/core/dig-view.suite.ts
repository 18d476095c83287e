import { printLabels } from "../../../src/core/names/label.ts";
import { labelsOf } from "../../../src/core/names/name.ts";
import { type AnswerSet, answerQuestion, type QuestionType } from "../../../src/core/records/answer.ts";
import type { ZoneView } from "../../../src/core/records/zone-view.ts";

export const printSets = (sets: readonly AnswerSet[]): string[] =>
  sets.flatMap(({ name, ttl, set }) => set.values.map((value) => `${printLabels(name)}. ${ttl} ${set.type} ${value}`));

/** What dig would show: the outcome, then the lines of each section. */
export function dig(zone: ZoneView, name: string, type: QuestionType): string[] {
  const { kind, end, answer, authority, additional } = answerQuestion(zone, labelsOf(name), type);
  const section = (title: string, sets: readonly AnswerSet[]) => printSets(sets).map((line) => `${title} ${line}`);
  return [
    end ? `${kind} ${end}` : kind,
    ...section("answer", answer),
    ...section("authority", authority),
    ...section("additional", additional),
  ];
}
