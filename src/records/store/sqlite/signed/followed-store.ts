import type { LoggedRow, Zone } from "../../../model.ts";
import type { Signer } from "../../../signing/signer.ts";
import type { RecordStore } from "../../port.ts";
import { type ChangeRow, changeFromRow } from "../../rows.ts";
import {
  type FollowedStore,
  isSignedAlike,
  type PlannedStep,
  planStep,
  signAgainRule,
  signStep,
  unsignedIn,
} from "../../signed/signing-follower.ts";
import type { SignedZones } from "../../signed-zones.ts";
import type { OtherCommits } from "../other-commits.ts";
import type { WriteConnection } from "../write-connection.ts";
import type { Commit } from "../write-queue.ts";

type FollowedStoreOptions = {
  readonly main: WriteConnection;
  readonly otherCommits: OtherCommits;
  readonly commit: Commit;
  readonly signedZones: Pick<SignedZones, "signedZones">;
  readonly run: RecordStore["run"];
};

/** What is known of a zone's unsigned changes without reading the log. */
type KnownRows = { after: number; rows: readonly LoggedRow[] };

const zonesAtOnce = 500;
/** When the store is closed, the next process signs what is larger. */
const mostWhenClosing = 50;

export class SqliteFollowedStore implements FollowedStore {
  readonly #options: FollowedStoreOptions;
  readonly #logOf: ReturnType<WriteConnection["database"]["prepare"]>;
  /** By zone; valid until another connection commits. */
  readonly #known = new Map<number, KnownRows>();

  constructor(options: FollowedStoreOptions) {
    this.#options = options;
    this.#logOf = options.main.database.prepare("SELECT * FROM changes WHERE zone = ? ORDER BY position DESC");
    options.otherCommits.onCommit(() => this.#known.clear());
  }

  /** Call it after each commit of this connection, with the rows that it added to the log. */
  note(rows: readonly LoggedRow[]): void {
    for (const row of rows) {
      const known = this.#known.get(row.zone);
      if (known === undefined) continue;
      const { change, position, zone } = row;
      if ("unsigned" in change) this.#known.set(zone, { ...known, rows: [...known.rows, row] });
      if (change.kind !== "signatures") continue;
      const after = change.through ?? position;
      this.#known.set(zone, { after, rows: known.rows.filter((each) => each.position > after) });
    }
  }

  readonly behind: FollowedStore["behind"] = async () => {
    const behind: number[] = [];
    for (let last = 0; ; ) {
      const zones = await this.#options.signedZones.signedZones(last, zonesAtOnce);
      for (const { number } of zones) if (this.#read(number).rows.length > 0) behind.push(number);
      last = zones.at(-1)?.number ?? last;
      if (zones.length < zonesAtOnce) return behind;
    }
  };

  readonly plan = (number: number): PlannedStep => {
    const { main, otherCommits } = this.#options;
    main.database.exec("BEGIN");
    try {
      otherCommits.checkNow();
      const zone = main.rowCache.zoneBy({ number });
      if (zone?.settings.dnssec === undefined) return undefined;
      const { after, rows } = this.#rowsOf(number);
      const last = rows.at(-1);
      if (last !== undefined) main.expectSignable({ zone }, main.signer, last.at);
      return planStep({ zone, after, rows }, main.signedReads(zone));
    } finally {
      main.database.exec("COMMIT");
    }
  };

  readonly commit: FollowedStore["commit"] = (step, names) => {
    const { main, commit } = this.#options;
    const { zone, after } = step;
    return commit(() => {
      const current = main.rowCache.zone(zone.id);
      if (current === undefined || !isSignedAlike(current, zone) || this.#isSignedSince(zone, after)) return;
      main.writer.applySigned(current, names, step.row(names));
    });
  };

  /** Signs the rest before the store is closed, if it is little. The caller commits it. */
  signLast(zones: ReadonlySet<number>, signer: Signer): void {
    for (const zone of zones) {
      try {
        const step = this.plan(zone);
        if (step === undefined || step === "whole" || step.count > mostWhenClosing) continue;
        this.commit(step, signStep(signer, step)).catch(() => undefined);
      } catch {
        // The next process tries it again.
      }
    }
  }

  readonly signWhole: FollowedStore["signWhole"] = async (number) => {
    const zone = this.#options.main.rowCache.zoneBy({ number });
    const last = this.#read(number).rows.at(-1);
    if (zone === undefined || last === undefined) return;
    await this.#options.run({ kind: "sign-whole", parts: zone.recordCount }, () => signAgainRule(zone, last.at));
  };

  #rowsOf(zone: number): KnownRows {
    const known = this.#known.get(zone) ?? this.#read(zone);
    this.#known.set(zone, known);
    return known;
  }

  #read(zone: number): KnownRows {
    return unsignedIn(rowsIn(this.#logOf.iterate(zone) as Iterable<ChangeRow>));
  }

  /** In the transaction that would sign it, or before it. */
  #isSignedSince({ number }: Zone, after: number): boolean {
    const logged = this.#options.main.writer.logged();
    if (logged.some(({ zone, change }) => zone === number && change.kind === "signatures")) return true;
    return (this.#known.get(number) ?? this.#read(number)).after !== after;
  }
}

function* rowsIn(rows: Iterable<ChangeRow>): Generator<LoggedRow, void> {
  for (const row of rows) yield changeFromRow(row);
}
