import { type CatchUp, createCatchUp } from "./catch-up.ts";
import type { NameKey } from "./name-key.ts";
import type { ZoneNews } from "./zone-source.ts";

type SignerEvent = Extract<ZoneNews, { kind: "unsigned" | "signed" }>;
type Unsigned = Pick<CatchUp, "reported" | "wait"> & { latest: number };

/** Zones with confirmed writes that are not signed yet. Their queries wait, each for the writes before it. */
export class UnsignedZones {
  readonly #zones = new Map<NameKey, Unsigned>();
  readonly #limit: number;

  /** `limit`: the most milliseconds to wait. The source gives up earlier. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Something was written, or everything up to a number is signed. */
  note(zone: NameKey, { kind, through }: SignerEvent): void {
    const unsigned = this.#zones.get(zone);
    if (kind === "unsigned") {
      if (unsigned === undefined) this.#zones.set(zone, this.#begin(through));
      else unsigned.latest = through;
      return;
    }
    if (unsigned !== undefined && through >= unsigned.latest) this.#zones.delete(zone);
    unsigned?.reported(through);
  }

  has(zone: NameKey): boolean {
    return this.#zones.has(zone);
  }

  /** Undefined if everything is signed. */
  wait(zone: NameKey): Promise<void> | undefined {
    return this.#zones.get(zone)?.wait();
  }

  /** Nobody waits for this zone any longer, or for any. */
  forget(only?: NameKey): void {
    for (const [zone, { latest, reported }] of this.#zones) {
      if (only !== undefined && only !== zone) continue;
      this.#zones.delete(zone);
      reported(latest);
    }
  }

  #begin(through: number): Unsigned {
    const unsigned = { latest: through };
    return Object.assign(
      unsigned,
      createCatchUp({ latest: () => unsigned.latest, start: through - 1, limit: this.#limit }),
    );
  }
}
