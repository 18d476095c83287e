import { finish, finishWithin, type Steps } from "../../../../core/steps.ts";
import type { FairSchedule } from "../../../../lib/limits/fair-schedule.ts";
import type { LoggedRow, Zone } from "../../../model.ts";
import type { Signer } from "../../../signing/signer.ts";
import { type ChangeRow, changeFromRow } from "../../rows.ts";
import {
  asideFor,
  hasUnsigned,
  isSignedAlike,
  mostRows,
  ownersToSign,
  type PlannedStep,
  planningStep,
  readingUnsigned,
  type SigningStep,
  type UnreadRow,
  type UnsignedChanges,
} from "../../signed/plan-step.ts";
import { type FollowedStore, signFew } from "../../signed/signing-follower.ts";
import type { AsideNeeded, SignedAside } from "../../signed-effect.ts";
import type { SignedZones } from "../../signed-zones.ts";
import type { OtherCommits } from "../other-commits.ts";
import type { WriteConnection } from "../write-connection.ts";
import type { Commit } from "../write-queue.ts";

type FollowedStoreOptions = {
  readonly main: WriteConnection;
  readonly signer: Signer;
  readonly otherCommits: OtherCommits;
  readonly commit: Commit;
  readonly signedZones: Pick<SignedZones, "signedZones">;
  /** Opens another connection; undefined if there can be only one. */
  readonly open: (() => WriteConnection) | undefined;
  readonly schedule: Pick<FairSchedule, "run">;
  readonly signAside: (needed: AsideNeeded) => Promise<SignedAside>;
};

/** What is known of a zone's unsigned changes without reading the log. */
type KnownRows = Pick<UnsignedChanges, "after" | "rows">;

const zonesAtOnce = 500;
/** Names that are planned in one piece, on the main connection, whose cache has most of what this needs. */
const fewNames = 50;
/** Rows of the log that are read for that. */
const fewRows = 500;
/** Signatures. When the store is closed, the next process signs what is larger. */
const mostWhenClosing = 50;

export class SqliteFollowedStore implements FollowedStore {
  readonly #options: FollowedStoreOptions;
  /** By zone; valid until another connection commits. */
  readonly #known = new Map<number, KnownRows>();

  constructor(options: FollowedStoreOptions) {
    this.#options = options;
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
    const { main, signedZones } = this.#options;
    const behind: number[] = [];
    for (let last = 0; ; ) {
      const zones = await signedZones.signedZones(last, zonesAtOnce);
      for (const zone of zones) if (hasUnsigned(logOf(main, zone))) behind.push(zone.number);
      last = zones.at(-1)?.number ?? last;
      if (zones.length < zonesAtOnce) return behind;
    }
  };

  readonly plan: FollowedStore["plan"] = (number, aside) => {
    const { main, otherCommits, open } = this.#options;
    otherCommits.checkNow();
    const zone = main.rowCache.zoneBy({ number });
    if (zone === undefined) return undefined;
    const known = this.#rowsOf(zone, open && fewRows);
    const isSmall = aside === undefined && known !== undefined && !known.rows.some(mayConcernAll);
    if (known !== undefined && (open === undefined || (isSmall && ownersToSign(known.rows).size <= fewNames)))
      return inSnapshot(main, () => finish(this.#planning(main, zone, known)));
    return open && this.#planApart(open(), number, aside);
  };

  readonly commit: FollowedStore["commit"] = (step, names) => {
    const { main, commit } = this.#options;
    const { zone, namesSwitch } = step;
    return commit(() => {
      const current = main.rowCache.zone(zone.id);
      if (current === undefined || !isSignedAlike(current, zone) || this.#isSignedSince(step)) return;
      main.writer.applySigned(current, names, namesSwitch, step.row(names));
    });
  };

  /** Signs the rest before the store is closed, if it is little. The caller commits it. */
  signLast(zones: ReadonlySet<number>): void {
    const { signer } = this.#options;
    for (const number of zones) {
      try {
        const step = this.#lastStep(number);
        const names = step && step !== "whole" ? signFew(signer, step, mostWhenClosing) : undefined;
        if (step && step !== "whole" && names) this.commit(step, names).catch(() => undefined);
      } catch {
        // The next process tries it again.
      }
    }
  }

  #lastStep(number: number): PlannedStep {
    const { main } = this.#options;
    const zone = main.rowCache.zoneBy({ number });
    const known = zone && this.#rowsOf(zone, fewRows);
    return known && inSnapshot(main, () => finish(this.#planning(main, zone, known)));
  }

  readonly signAside: FollowedStore["signAside"] = async (number) => {
    const { main, signAside } = this.#options;
    const zone = main.rowCache.zoneBy({ number });
    const [last] = zone ? logOf(main, zone) : [];
    if (zone?.settings.dnssec === undefined || last === undefined) return undefined;
    const { actor, at: now } = last.read();
    return await signAside({ kind: "aside-needed", zone, by: { actor, now }, keys: [] });
  };

  /** On a connection of its own, in the pauses of other work. */
  async #planApart(connection: WriteConnection, number: number, aside: SignedAside | undefined): Promise<PlannedStep> {
    const { database } = connection;
    try {
      database.exec("BEGIN");
      const zone = connection.rowCache.zoneBy({ number });
      if (zone === undefined) return undefined;
      return await this.#options.schedule.run(zone.account, this.#planningApart(connection, zone, aside));
    } finally {
      database.close();
    }
  }

  *#planningApart(connection: WriteConnection, zone: Zone, aside: SignedAside | undefined): Steps<PlannedStep> {
    const unsigned = yield* readingUnsigned(zone, logOf(connection, zone));
    return yield* this.#planning(connection, zone, unsigned, aside);
  }

  *#planning(connection: WriteConnection, zone: Zone, unsigned: KnownRows, signed?: SignedAside): Steps<PlannedStep> {
    const { signer, open } = this.#options;
    const last = unsigned.rows.at(-1);
    if (last === undefined) return undefined;
    connection.expectSignable({ zone }, signer, last.at);
    const given = asideFor(zone, unsigned.rows, signed);
    const aside = given && connection.signedNames().isReserved(given.number) ? given : undefined;
    const missed = aside && { ...aside, missed: rowsAfter(connection, zone, aside.through) };
    const reads = connection.signedReads(aside ? { ...zone, signedNamesNumber: aside.number } : zone);
    return yield* planningStep({ zone, ...unsigned, ...(missed && { aside: missed }) }, reads, open === undefined);
  }

  /** Undefined if there are more; they are then read in the pauses of other work. */
  #rowsOf(zone: Zone, most = Number.POSITIVE_INFINITY): KnownRows | undefined {
    const known = this.#known.get(zone.number) ?? readUnsigned(this.#options.main, zone, most);
    if (known !== undefined) this.#known.set(zone.number, known);
    return known;
  }

  /** In the transaction that would sign it. */
  #isSignedSince({ zone, after, through }: SigningStep): boolean {
    const { main } = this.#options;
    const logged = main.writer.logged();
    if (logged.some((row) => row.zone === zone.number && row.change.kind === "signatures")) return true;
    for (const { position, read } of logOf(main, zone)) {
      if (position <= through) return false;
      const { change } = read();
      if (change.kind === "signatures" && (change.through ?? position) > after) return true;
    }
    return false;
  }
}

/** Every name may have to be signed. */
const mayConcernAll = ({ change }: LoggedRow): boolean =>
  change.kind === "settings" || (change.kind === "signing" && (change.owners === "all" || change.aside !== undefined));

function inSnapshot<T>({ database }: WriteConnection, work: () => T): T {
  database.exec("BEGIN");
  try {
    return work();
  } finally {
    database.exec("COMMIT");
  }
}

const readUnsigned = (connection: WriteConnection, zone: Zone, most: number): KnownRows | undefined =>
  finishWithin(readingUnsigned(zone, logOf(connection, zone)), most, () => false);

/** Oldest first, at most as many as a step looks at, and one more. */
function rowsAfter(connection: WriteConnection, zone: Zone, position: number): readonly LoggedRow[] {
  const rows: LoggedRow[] = [];
  for (const row of logOf(connection, zone)) {
    if (row.position <= position || rows.length > mostRows) break;
    rows.push(row.read());
  }
  return rows.reverse();
}

/** Newest first. */
function* logOf({ database }: WriteConnection, { number }: Zone): Generator<UnreadRow, void> {
  const rows = database.prepare("SELECT * FROM changes WHERE zone = ? ORDER BY position DESC").iterate(number);
  for (const row of rows as Iterable<ChangeRow>)
    yield { position: row.position, change: row.change, read: () => changeFromRow(row) };
}
