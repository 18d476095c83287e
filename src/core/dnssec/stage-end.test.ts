import { expect, it } from "vitest";
import { nextStage, type Stage } from "./lifecycle.ts";
import { stageEnd } from "./stage-end.ts";

const stages: readonly Stage[] = [
  ...(["new", "new-parent", "secure", "roll-show", "roll-parent", "roll-sign"] as const),
  ...(["algorithm-sign", "algorithm-show", "algorithm-parent", "algorithm-hide", "leaving"] as const),
];
const key = { tag: 1, algorithm: 13, publicKey: Buffer.alloc(64), shown: true, signs: true, inParent: true };

const dsOf = (tag: number) => ({ tag, algorithm: 13, digestType: 2, digest: `d${tag}` });

it.for(stages)("a stage ends when it says, if only caches decide: %s", (stage) => {
  const [since, highestTtl] = [1_000_000, 7_200];
  const keys = [key, { ...key, tag: 2 }];
  const life = { stage, since, keys, zoneTtl: highestTtl } as unknown as Parameters<typeof nextStage>[0];
  const end = stageEnd(stage, since, highestTtl);
  // Where the parent must have the DS record of the next key, it has it; where a stage waits for the parent, what it
  // has is not known.
  const parent = end === undefined ? [] : [{ server: "ns1", ds: [dsOf(2)], ttl: 3_600 }];
  const at = (now: number) => nextStage(life, parent, { now, highestTtl, dsOf: ({ tag }) => [dsOf(tag)] });
  expect(at((end ?? Number.MAX_SAFE_INTEGER) - 1)).toBe(undefined);
  if (end !== undefined) expect(at(end)).toMatchObject({ since: end });
});
