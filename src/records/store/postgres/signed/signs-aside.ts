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

  readonly signAside = async (needed: AsideNeeded): Promise<SignedAside> => {
    const signer = this.#signer;
    if (signer === undefined) throw new Error("this store was opened without a key file");
    const { schedule } = this;
    return await signAside({ store: this.#store, signer, schedule, signal: this.#closing.signal }, needed);
  };

  /** For a write that needs this first. */
  readonly signFirst = async (needed: AsideNeeded, attempt: AsideAttempt): Promise<unknown> => {
    const done = this.#inTurn(needed, attempt);
    this.#running.add(done);
    return await done.finally(() => this.#running.delete(done));
  };

  async #inTurn(needed: AsideNeeded, attempt: AsideAttempt): Promise<unknown> {
    const release = await this.schedule.hold(needed.zone.account, this.#closing.signal);
    try {
      return await withAsides(this.signAside, attempt, needed);
    } finally {
      release();
    }
  }

  /** What has not ended is given up; what was written is deleted later. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the store is closed"));
    await Promise.allSettled(this.#running);
  }
}
