import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { RecordStore } from "./port.ts";

/** Milliseconds. Without writes, nobody would learn that there is room again. */
const believedFor = 30_000;

/**
 * A store that cannot write, for example because its disk is full, is not well until a write succeeds again, or until
 * it should be tried again.
 */
export function watchWrites<S extends Pick<RecordStore, "run"> & { readonly checkHealth: () => Promise<unknown> }>(
  store: S,
  now = () => performance.now(),
): S {
  let failure: { readonly error: StoreBusy; readonly at: number } | undefined;
  const worked = () => {
    failure = undefined;
  };
  const failed = (error: unknown) => {
    if (error instanceof StoreBusy && error.isUnable) failure = { error, at: now() };
  };
  const run: RecordStore["run"] = (command, rule, running) => {
    const writing = store.run(command, rule, running);
    void writing.then(worked, failed);
    return writing;
  };
  const checkHealth = async (): Promise<unknown> => {
    if (failure !== undefined && now() - failure.at < believedFor) throw failure.error;
    return await store.checkHealth();
  };
  return { ...store, run, checkHealth };
}
