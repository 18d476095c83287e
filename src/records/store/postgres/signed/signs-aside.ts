import { FairSchedule } from "../../../../lib/limits/fair-schedule.ts";
import type { Signer } from "../../../signing/signer.ts";
import type { AsideStore } from "../../aside-store.ts";
import { signAside, withAsides } from "../../signed/sign-aside.ts";
import type { AsideNeeded, SignedAside } from "../../signed-effect.ts";
import type { AsideAttempt } from "../writes.ts";

/** Signs the names of large zones outside of the queue of writes. */
export class SignsAside {
  /** Each account signs one large zone at a time. */
  readonly schedule = new FairSchedule({ mostWaiting: 100 });
  readonly #store: AsideStore;
  readonly #signer: Signer | undefined;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(store: AsideStore, signer: Signer | undefined) {
    [this.#store, this.#signer] = [store, signer];
  }

  readonly #signAside = async (needed: AsideNeeded): Promise<SignedAside> => {
    const signer = this.#signer;
    if (signer === undefined) throw new Error("this store was opened without a key file");
    const { schedule } = this;
    return await signAside({ store: this.#store, signer, schedule, signal: this.#closing.signal }, needed);
  };

  /** For what was written before. */
  readonly signAside = (needed: AsideNeeded): Promise<SignedAside> =>
    this.#inTurn(needed, () => this.#signAside(needed));

  /** For a write that needs this first. */
  readonly signFirst = (needed: AsideNeeded, attempt: AsideAttempt): Promise<unknown> =>
    this.#inTurn(needed, () => withAsides(this.#signAside, attempt, needed));

  async #inTurn<T>({ zone }: AsideNeeded, work: () => Promise<T>): Promise<T> {
    const done = this.schedule.hold(zone.account, this.#closing.signal).then((release) => work().finally(release));
    this.#running.add(done);
    return await done.finally(() => this.#running.delete(done));
  }

  /** What has not ended is given up; what was written is deleted later. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closed"));
    await Promise.allSettled(this.#running);
  }
}
