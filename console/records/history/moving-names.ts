import type { ChangeEvent } from "../../../src/contract/change-events.ts";
import { type Span, spansOf } from "../../shared/time/spans.ts";

export type MovingName = { readonly name: string; readonly type: "A" | "AAAA"; readonly spans: readonly Span[] };

/** The A and AAAA sets whose address has changed. The history is newest first. */
export function movingNames(history: readonly ChangeEvent[]): readonly MovingName[] {
  const addresses = history.filter(({ type, name }) => name !== null && (type === "A" || type === "AAAA"));
  const bySet = Map.groupBy(addresses, ({ name, type }) => `${name}/${type}`);
  return [...bySet.values()]
    .map((changes) => movesOf(changes))
    .filter(({ spans }) => spans.length > 1)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.type.localeCompare(b.type));
}

function movesOf(changes: readonly ChangeEvent[]): MovingName {
  const oldestFirst = changes.toReversed();
  const { name, type } = oldestFirst[0] ?? {};
  const points = oldestFirst.map(({ after, at }) => ({ address: valuesOf(after), at: Date.parse(at) }));
  return { name: name ?? "@", type: type === "AAAA" ? "AAAA" : "A", spans: spansOf(points) };
}

const valuesOf = (side: ChangeEvent["after"]): string =>
  side !== null && "records" in side ? side.records.map(({ value }) => value).join(", ") : "none";
