import { expect, it } from "vitest";
import { nextStage, type Stage } from "./lifecycle.ts";
import { stageEnd } from "./stage-end.ts";

const stages: readonly Stage[] = [
  ...(["new", "new-parent", "secure", "roll-show", "roll-parent", "roll-sign"] as const),
  ...(["algorithm-sign", "algorithm-show", "algorithm-parent", "algorithm-hide", "leaving"] as const),
];
const key = { tag: 1, algorithm: 13, publicKey: Buffer.alloc(64), shown: true, signs: true, inParent: true };

it.for(stages)("a stage ends when it says, if only caches decide: %s", (stage) => {
  const [since, highestTtl] = [1_000_000, 7_200];
  const life = { stage, since, keys: [key, { ...key, tag: 2 }] } as unknown as Parameters<typeof nextStage>[0];
  const at = (now: number) => nextStage(life, undefined as never, { now, highestTtl, ...{ dsOf: () => [] } });
  const end = stageEnd(stage, since, highestTtl);
  expect(at((end ?? Number.MAX_SAFE_INTEGER) - 1)).toBe(undefined);
  if (end !== undefined) expect(at(end)).toMatchObject({ since: end });
});
