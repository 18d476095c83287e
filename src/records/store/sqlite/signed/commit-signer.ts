import { occludingTypes } from "../../../../core/dnssec/codes.ts";
import { typeCode } from "../../../../core/rdata/table.ts";
import type { Change } from "../../../../core/records/changes.ts";
import { setKey } from "../../../../core/records/rrset.ts";
import { finish } from "../../../../core/steps.ts";
import type { Zone } from "../../../model.ts";
import type { Signer } from "../../../signing/signer.ts";
import { planningSignatures, type SignedReads } from "../../plan-signatures.ts";
import { signNamesNow } from "../../sign-names.ts";
import type { WriteEffect, WrittenBy } from "../../write-effect.ts";
import type { SetWriter } from "../write.ts";

/** A write that changes more sets is planned and signed by itself: others would wait too long for its signatures. */
const mostChanges = 20;
/**
 * Followers rely on it (`serving/follow-log.ts`): a zone has no more rows in the log than this between two rows of
 * signatures.
 */
const mostUnsigned = 500;

/** The writes of this transaction to one zone. */
type Unsigned = {
  /** Before the first of them. */
  readonly before: Zone;
  /** The last change of each set. */
  readonly changes: Map<string, Change>;
  readonly log: WriteEffect["log"][number][];
  /** After the last of them. */
  zone: Zone;
  by: WrittenBy;
};

/**
 * Signs the small writes of a transaction together, when it ends: every write changes the SOA record of its zone, which
 * is then signed once. In the log, the rows of these writes are followed by one row with their signatures, under the
 * last serial.
 */
export class CommitSigner {
  readonly #reads: (zone: Zone) => SignedReads;
  readonly #writer: SetWriter;
  readonly #signer: Signer | undefined;
  readonly #unsigned = new Map<number, Unsigned>();

  constructor(reads: (zone: Zone) => SignedReads, writer: SetWriter, signer: Signer | undefined) {
    [this.#reads, this.#writer, this.#signer] = [reads, writer, signer];
  }

  /**
   * Whether this write can be signed with others. If it may occlude names below it, the whole zone may have to be
   * signed.
   */
  canSign({ zone, changes }: WriteEffect): boolean {
    const keys = zone.settings.dnssec?.keys;
    if (keys === undefined || changes.length > mostChanges || this.#signer?.notLoaded(keys).length !== 0) return false;
    return !changes.some(
      ({ type, before, after }) => mayOcclude.has(typeCode(type)) && (before === null || after === null),
    );
  }

  /** Only for a write that `canSign` has accepted. The caller writes its sets, but not its rows of the log. */
  add(before: Zone, { zone, changes, log }: WriteEffect, by: WrittenBy): void {
    const unsigned: Unsigned = this.#unsigned.get(zone.number) ?? { before, changes: new Map(), log: [], zone, by };
    this.#unsigned.set(zone.number, unsigned);
    for (const change of changes) unsigned.changes.set(setKey(change.owner, change.type), change);
    unsigned.log.push(...log);
    [unsigned.zone, unsigned.by] = [zone, { actor: by.actor, now: Math.max(by.now, unsigned.by.now) }];
    if (unsigned.log.length + mostChanges > mostUnsigned) this.signEarlierWrites(zone);
  }

  /** Signs what small writes of this transaction have changed: later ones read its signatures, and the log. */
  signEarlierWrites({ number }: Pick<Zone, "number">): void {
    const unsigned = this.#unsigned.get(number);
    if (unsigned === undefined || this.#signer === undefined) return;
    this.#unsigned.delete(number);
    const { before, zone, log, by } = unsigned;
    const effect = { zone, changes: [...unsigned.changes.values()], newSettings: false, log };
    const planned = finish(planningSignatures(before, effect, this.#reads(before), by));
    const signed = planned.signed(signNamesNow(this.#signer, zone.name, planned));
    this.#writer.apply({ ...signed, changes: [] }, []);
  }

  signAll(): void {
    for (const number of this.#unsigned.keys()) this.signEarlierWrites({ number });
  }

  forget(): void {
    this.#unsigned.clear();
  }
}

const mayOcclude: ReadonlySet<number> = new Set(Object.values(occludingTypes));
