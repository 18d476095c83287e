import type { UpdaterDecision } from "../../src/contract/updater-page.ts";
import { parseAddress } from "../../src/core/addresses/address.ts";
import { type Span, spansOf } from "../shared/time/spans.ts";

/** The addresses that were written for a name. The decisions are newest first. */
export function movesOf(name: string, decisions: readonly UpdaterDecision[]): readonly Span[] {
  const points = decisions
    .filter(({ about, kind }) => about === name && kind === "done")
    .flatMap(({ at, what }) => {
      const address = what
        .split(" ")
        .map(parseAddress)
        .find((word) => word !== undefined);
      return address === undefined ? [] : [{ address: address.text, at: Date.parse(at) }];
    });
  return spansOf(points.toReversed());
}
