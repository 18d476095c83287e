import { mapInSteps } from "../../core/steps.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import type { LoggedChange, Zone, ZoneKey } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, missing, type PermittedView } from "../queries/permitted-view.ts";
import type { Done, IdempotencyOption, Written } from "./requests.ts";
import { undoChangesRule, undoing } from "./undo.ts";
import { earlierWritten, toWritten } from "./write.ts";

/** How many changes one request examines for an actor who may see only some sets. */
const mostLookedAt = 2_000;
const historyPart = 200;
/** Changes of a write that are read in one turn, to undo it. */
const undoPart = 500;

type HistoryTools = Pick<RecordServiceOptions, "store" | "now"> & {
  readonly permittedView: PermittedView;
  readonly schedule: Pick<FairSchedule, "next" | "run">;
};

export const historyOperations = (
  { store, now }: RecordServiceOptions,
  permittedView: PermittedView,
  schedule: HistoryTools["schedule"],
) => {
  const tools = { store, now, permittedView, schedule };
  return {
    maySee: (actor: Actor, change: LoggedChange) => maySee(permittedView, actor, change),

    /**
     * The changes to a zone that the actor may see, newest first. `next`: where the next page starts. `rest`: how many
     * changes of the last write on this page are on the following pages; undefined for an actor who sees only some
     * sets. Both are undefined on the last page.
     */
    history: async (actor: Actor, key: ZoneKey, query: HistoryPage) => {
      const zone = await permittedView.openZone(actor, key);
      if (zone === undefined) return missing("zone");
      if (actor.scope.sets !== undefined)
        return { kind: "done" as const, zone, ...(await seenBy(tools, actor, zone, query)), rest: undefined };
      const rows = await store.historyOf(zone, query);
      const last = rows.length < query.limit ? undefined : rows.at(-1);
      const rest = last && (await store.precedingInWrite(zone, last));
      return { kind: "done" as const, zone, rows, next: last?.position, rest };
    },

    /** Undoes one write with a new write; refused if what it changed has changed again since. */
    undo: (actor: Actor, key: ZoneKey, serial: number, idempotency: IdempotencyOption = {}) =>
      undo(tools, actor, key, serial, idempotency),
  };
};

const maySee = (permittedView: PermittedView, actor: Actor, { zoneName: zone, change }: LoggedChange): boolean =>
  change.kind === "settings"
    ? permittedView.allows(actor, { kind: "read-zone", zone })
    : permittedView.allows(actor, { kind: "read-set", zone, owner: change.owner, type: change.type });

async function undo(
  tools: HistoryTools,
  actor: Actor,
  key: ZoneKey,
  serial: number,
  idempotency: IdempotencyOption,
): Promise<Written> {
  const { store, now, permittedView, schedule } = tools;
  const zone = await permittedView.openZone(actor, key);
  const rows = zone ? await changesOf(tools, actor, zone, serial) : [];
  if (zone === undefined || rows.length === 0) {
    const before = await earlierWritten(store, actor, key, idempotency, now());
    return zone && before.kind === "missing" ? missing("record") : before;
  }
  const seen = await schedule.run(
    actor.account,
    mapInSteps(rows, (row) => maySee(permittedView, actor, row)),
  );
  if (seen.includes(false)) return missing("record");
  const { changes, settings } = await schedule.run(actor.account, undoing(rows));
  const by = { actor, at: key, now: now(), parts: changes.length, ...idempotency };
  return toWritten<Done>(await store.run({ kind: "undo-changes", ...by, changes, settings }, undoChangesRule));
}

/** Fills pages with visible changes only, so that the number of hidden changes is not revealed. */
async function seenBy(
  { store, permittedView, schedule }: HistoryTools,
  actor: Actor,
  zone: Zone,
  { before, limit }: HistoryPage,
) {
  const seen: LoggedChange[] = [];
  let next = before;
  for (let looked = 0; looked < mostLookedAt; looked += historyPart) {
    const rows = await store.historyOf(zone, { limit: historyPart, before: next });
    seen.push(...rows.filter((row) => maySee(permittedView, actor, row)));
    if (seen.length > limit) break;
    if (rows.length < historyPart) return { rows: seen, next: undefined };
    next = rows.at(-1)?.position;
    await schedule.next(actor.account);
  }
  const rows = seen.slice(0, limit);
  return { rows, next: seen.length > limit ? rows.at(-1)?.position : next };
}

/** All changes of one write, newest first. */
async function changesOf({ store, schedule }: HistoryTools, actor: Actor, zone: Zone, serial: number) {
  const rows: LoggedChange[] = [];
  for (;;) {
    const part = await store.historyOf(zone, { serial, before: rows.at(-1)?.position, limit: undoPart });
    rows.push(...part);
    if (part.length < undoPart) return rows;
    await schedule.next(actor.account);
  }
}

type HistoryPage = { readonly before?: number; readonly limit: number };
