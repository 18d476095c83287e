import { finish, inSteps } from "../../../core/steps.ts";
import type { NewZone, Zone } from "../../model.ts";
import type { Acted, ActRequest, Command, DecideAct, NewAction, Once, RecordStore, WriteView } from "../port.ts";
import type { RoomForRecords } from "../record-limits.ts";
import type { Wanted, Writer } from "../write-effect.ts";
import type { Batch } from "./batch.ts";
import type { Write } from "./queue.ts";

type Writes = Pick<RecordStore, "createZone" | "write" | "writeAll" | "act" | "actCreateZone">;
type By = Pick<NewAction, "actor" | "now" | "once" | "running">;
type Kept = By & { readonly command: string | undefined };

/** Every write, as what it needs to see and what it does. `mostValues`: as in `WriteView`. */
export function createWrites(
  add: <T>(write: Write<T>) => Promise<T>,
  room?: RoomForRecords,
  mostValues?: number,
): Writes {
  const viewIn = (batch: Batch, request: Parameters<Batch["view"]>[0]): WriteView | undefined => {
    const view = batch.view(request);
    return view && { ...view, mostValues };
  };
  /** Plans a write; throws if it adds too many records. */
  const replace = (batch: Batch, view: WriteView, wanted: Wanted, by: Writer) => {
    const planned = batch.replace(view, wanted, by);
    room?.expect(planned.zone, view.zone.recordCount);
    return planned;
  };
  const create = (batch: Batch, zone: NewZone, actor: string) => {
    const recordCount = zone.sets.reduce((sum, { records }) => sum + records.length, 0);
    room?.expect({ ...zone, recordCount }, 0);
    return batch.create(zone, actor);
  };

  return {
    createZone: (zone, actor, command) =>
      add({
        needs: [],
        creates: zone,
        acts: false,
        ...byOf(command),
        run: (batch) => {
          batch.expectAccess(command?.actor);
          return create(batch, zone, actor);
        },
      }),

    write: (request, decide) =>
      add({
        needs: [request],
        acts: false,
        ...byOf(request.command),
        run: (batch) => {
          batch.expectAccess(request.command?.actor);
          const view = viewIn(batch, request);
          if (view === undefined) return undefined;
          const { wanted, result, ...decision } = decide(view);
          replace(batch, view, { ...decision, sets: wanted }, request).apply();
          return result;
        },
      }),

    writeAll: (requests, decide) =>
      add({
        needs: requests,
        acts: false,
        ...byOf(requests[0]?.command),
        run: (batch) => {
          batch.expectAccess(requests[0]?.command?.actor);
          const views = requests.map((request) => viewIn(batch, request));
          const { decisions, result } = finish(inSteps(decide(views)));
          const planned = requests.flatMap((request, i) => {
            const [view, decision] = [views[i], decisions[i]];
            if (view === undefined || decision === undefined) return [];
            const { wanted, ...rest } = decision;
            return [replace(batch, view, { ...rest, sets: wanted }, request)];
          });
          for (const { apply } of planned) apply();
          return result;
        },
      }),

    act: <T>(request: ActRequest, decide: DecideAct<T>) =>
      add<Acted<T> | "no-zone" | "key-taken">({
        needs: [request],
        ...onceOf(request),
        acts: true,
        ...byOf(request.command),
        run: (batch) => {
          batch.expectAccess(request.command?.actor);
          const known = knownAct<T>(batch, request);
          if (known !== undefined) return known;
          const view = viewIn(batch, request);
          if (view === undefined) return "no-zone";
          const { command, remember, remove, result, wanted, ...decision } = finish(inSteps(decide(view)));
          const planned = remove ? undefined : replace(batch, view, { ...decision, sets: wanted }, request);
          planned?.apply();
          const after = planned?.zone ?? batch.remove(view, request);
          return command === undefined && !remember
            ? { result, action: undefined, serial: after.serial }
            : keepAct(batch, after, { ...request, command }, result);
        },
      }),

    actCreateZone: (zone, act, command) =>
      add({
        needs: [],
        creates: zone,
        ...onceOf(act),
        acts: true,
        ...byOf(command),
        run: (batch) => {
          batch.expectAccess(command?.actor);
          const known = knownAct<Zone>(batch, act);
          if (known !== undefined) return known;
          const made = create(batch, zone, act.actor);
          return typeof made === "string" ? made : keepAct(batch, made, act, made);
        },
      }),
  };
}

const byOf = (command: Command | undefined) => (command?.actor === undefined ? {} : { by: command.actor });

const onceOf = ({ actor, once }: By): { readonly once?: Once & { readonly actor: string } } =>
  once === undefined ? {} : { once: { ...once, actor } };

/** The earlier answer to the same request. */
function knownAct<T>(batch: Batch, { actor, now, once }: By): Acted<T> | "key-taken" | undefined {
  const kept = once && batch.kept(actor, once, now);
  if (kept === undefined) return undefined;
  return kept.fingerprint === once?.fingerprint ? (JSON.parse(kept.outcome) as Acted<T>) : "key-taken";
}

/** Stores the action, if there is one, and the answer under its key. */
function keepAct<T>(batch: Batch, zone: Zone, { actor, now, once, command, running }: Kept, result: T): Acted<T> {
  const action = command === undefined ? undefined : batch.act(zone, command, { actor, now }, running?.id);
  const acted = { result, action, serial: zone.serial };
  if (once !== undefined) batch.keep({ actor, ...once, at: now, outcome: JSON.stringify(acted) });
  return acted;
}
