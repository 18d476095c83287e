import { type Change, diffSets } from "../../../core/records/changes.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { NewZone, Zone } from "../../model.ts";
import type { WriteEffect } from "../write-effect.ts";
import type { Commit } from "./group-commit.ts";
import type { KnownRows } from "./known-rows.ts";
import type { prepareStaging, Staged } from "./staged-writes.ts";
import type { SetWriter } from "./write.ts";

/** The effect of a write on one zone, and the zone as it was when the write was planned. */
export type PlannedWrite = {
  readonly zone: Zone;
  readonly existing: readonly RRset[];
  readonly effect: WriteEffect;
};

/** `finish` is called after the writes, in the same transaction. */
export type Plan<T> = { readonly writes: readonly PlannedWrite[]; readonly finish: () => T };

export type FirstSets = { readonly created: readonly Change[]; readonly staged: Staged | undefined };

export type LargeWritesOptions = {
  readonly commit: Commit;
  readonly known: Pick<KnownRows, "zone">;
  readonly writer: Pick<SetWriter, "apply">;
  readonly stage: ReturnType<typeof prepareStaging>;
};

/** Writes with more changes are staged first. */
const largest = 1_000;
/**
 * If the zone still changes while the write is staged after this many tries, the write is done in one piece, and
 * others wait.
 */
const tries = 3;

/**
 * Plans a write and does it in one transaction. A write with many changes would block others for too long: it is
 * planned in one transaction, staged outside of any, and written in a second one if its zones have not changed since.
 * Otherwise it is planned again.
 */
export function createLargeWrites({ commit, known, writer, stage }: LargeWritesOptions) {
  const isCurrent = ({ zone }: PlannedWrite): boolean => known.zone(zone.id)?.serial === zone.serial;

  const finish = <T>(plan: Plan<T>, staged: readonly Staged[] = []) => {
    for (const [i, { effect, existing }] of plan.writes.entries()) writer.apply(effect, existing, staged[i]);
    return { result: plan.finish() };
  };

  const withStaged = async <T>(parts: readonly Parts[], work: (staged: readonly Staged[]) => T): Promise<T> => {
    const staged: Staged[] = [];
    try {
      for (const part of parts) staged.push(await stage(part));
      return await commit(() => work(staged));
    } finally {
      for (const each of staged) each.drop();
    }
  };

  return {
    commit: async <T>(plan: () => Plan<T>): Promise<T> => {
      for (let left = tries; ; left--) {
        const begun = await commit(() => {
          const planned = plan();
          const changes = planned.writes.reduce((sum, { effect }) => sum + effect.changes.length, 0);
          return changes > largest && left > 0 ? planned : finish(planned);
        });
        if ("result" in begun) return begun.result;
        const effects = begun.writes.map(({ effect }) => effect);
        const ended = await withStaged(effects, (staged) =>
          begun.writes.every(isCurrent) ? finish(begun, staged) : undefined,
        );
        if (ended !== undefined) return ended.result;
      }
    },

    /** For the first sets of a zone, which do not depend on the content of the store. */
    commitNew: <T>({ sets }: NewZone, work: (first: FirstSets) => T): Promise<T> => {
      const created = diffSets([], sets);
      return created.length > largest
        ? withStaged([{ changes: created, log: [] }], ([staged]) => work({ created, staged }))
        : commit(() => work({ created, staged: undefined }));
    },
  };
}

type Parts = Pick<WriteEffect, "changes" | "log">;
