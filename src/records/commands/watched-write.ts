import type { RecordServiceOptions } from "../options.ts";
import type { NotDone } from "../queries/sight.ts";
import type { ActRequest, DecideAct, RunningAction } from "../store/port.ts";
import type { Done, Written } from "./requests.ts";
import { writtenIn } from "./write.ts";

/** Milliseconds. A write that takes longer is answered with an action that is still running. */
const soon = 5_000;
/** Milliseconds after which an action counts as interrupted, and how often that time is extended. */
const [lease, extendEvery] = [120_000, 30_000];

type Watching = Pick<RecordServiceOptions, "store" | "now" | "answerAfter">;

/** A write that may take long. `command`: the name of its action; without one, the answer waits for the end of the write. */
export async function actWatched(
  { store, now, answerAfter = soon }: Watching,
  request: ActRequest,
  decide: DecideAct<Done | NotDone>,
  command: string | undefined,
): Promise<Written> {
  const running: RunningAction = {};
  const acting = store.act({ ...request, running }, decide).then((acted) => writtenIn<Done>(acted));
  if (command === undefined || (await endsWithin(acting, answerAfter))) return await acting;
  const zone = await store.zoneBy(request.account, request.at);
  if (zone === undefined) return await acting;
  const [actor, started] = [request.actor, now()];
  const action = await store.startAction(zone, command, { actor, now: started, until: started + lease });
  running.id = action.id;
  watch({ store, now }, acting, action.id);
  return { kind: "done", action, serial: zone.serial };
}

async function endsWithin(work: Promise<unknown>, time: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), time);
  const ended = () => resolve(true);
  work.then(ended, ended);
  return await promise.finally(() => clearTimeout(timer));
}

/** Keeps the action running until the write has ended. If the store cannot be reached then, it counts as interrupted. */
function watch({ store, now }: Watching, acting: Promise<Written>, id: number): void {
  const extend = () => void store.extendAction(id, now() + lease).catch(() => undefined);
  const timer = setInterval(extend, extendEvery).unref();
  acting
    .then(
      (written) => {
        const isEnded = written.kind === "done" && written.action?.id === id;
        return isEnded ? undefined : store.endAction(id, now(), written.kind === "done" ? undefined : textOf(written));
      },
      (error: Error) => store.endAction(id, now(), error.message),
    )
    .catch(() => undefined)
    .finally(() => clearInterval(timer));
}

function textOf(notDone: NotDone): string {
  if (notDone.kind !== "refused") return "the zone was deleted, or access to it ended, before this was finished";
  return notDone.faults.map(({ message, todo }) => (todo ? `${message}; ${todo}` : message)).join("; ");
}
