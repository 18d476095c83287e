import type { NameChange } from "../../../../core/dnssec/plan-signing.ts";
import type { FairSchedule } from "../../../../lib/limits/fair-schedule.ts";
import type { Postgres } from "../../../../lib/postgres/open.ts";
import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";
import type { EndWork } from "../../../../process/duties.ts";
import type { Logger } from "../../../../process/log.ts";
import type { LoggedRow, NamesAside } from "../../../model.ts";
import type { Signer } from "../../../signing/signer.ts";
import type { RecordStore } from "../../port.ts";
import { type ChangeRow, changeFromRow, type ZoneRow, zoneFromRow } from "../../rows.ts";
import {
  asideFor,
  mostRows,
  ownersToSign,
  type PlannedStep,
  planningStep,
  type SigningStep,
  type UnsignedChanges,
} from "../../signed/plan-step.ts";
import { type FollowedStore, SigningFollower } from "../../signed/signing-follower.ts";
import type { AsideNeeded, SignedAside } from "../../signed-effect.ts";
import { ReadWholeZone } from "../batch.ts";
import { setsOfOwners, setsOfZones } from "../batch-read.ts";
import { BatchSets, type StoredSet } from "../batch-sets.ts";
import type { Write } from "../queue.ts";
import { readSignedApexes, readSignedNames, viewOfNames } from "./names.ts";
import { isUnsigned, signedThrough } from "./signed-through.ts";

type FollowedStoreOptions = {
  readonly postgres: Pick<Postgres, "read" | "snapshot">;
  readonly signer: Signer;
  readonly add: <T>(write: Write<T>) => Promise<T>;
  readonly schedule: Pick<FairSchedule, "run">;
  readonly signAside: (needed: AsideNeeded) => Promise<SignedAside>;
};

export type PostgresSigning = {
  /**
   * Begins to sign what any node writes to signed zones, until `end` is called. The node for which `isFirst` signs
   * immediately (call `lookForMore` when it becomes that); the others what it left for a second. If two nodes sign,
   * nothing is signed twice.
   */
  readonly signChanges: (isFirst?: () => boolean) => { readonly lookForMore: () => void; readonly end: EndWork };
  /** As in `SignedZones`; if another node signs, it is not waited for. */
  readonly signed: (zone?: number) => Promise<void>;
};

type SigningOptions = Omit<FollowedStoreOptions, "signer"> & {
  readonly signer: Signer | undefined;
  readonly listen: RecordStore["onChange"];
  readonly log: Logger;
};

type Run = (statement: Statement) => Promise<Rows>;

/**
 * Plans from one snapshot, outside of any transaction. What it stores shares a transaction with other writes; it locks
 * the zone's row, and writes only if nobody else has signed since.
 */
class PostgresFollowedStore implements FollowedStore {
  readonly #options: FollowedStoreOptions;
  /** Rows up to this position were looked at. */
  #seen: number | undefined;

  constructor(options: FollowedStoreOptions) {
    this.#options = options;
  }

  readonly behind: FollowedStore["behind"] = async () => {
    const { read } = this.#options.postgres;
    const since = this.#seen;
    const { rows } = await read(since === undefined ? everyUnsigned : unsignedSince(since));
    const [found] = rows as readonly { readonly end: number | null; readonly zones: readonly string[] | null }[];
    const end = found?.end ?? 0;
    // The log has lost rows.
    this.#seen = since !== undefined && end < since ? undefined : end;
    return (found?.zones ?? []).map(Number);
  };

  readonly plan: FollowedStore["plan"] = async (number, aside) => {
    try {
      return await this.#planWith(number, false, aside);
    } catch (error) {
      if (error instanceof ReadWholeZone) return await this.#planWith(number, true, aside);
      throw error;
    }
  };

  readonly commit: FollowedStore["commit"] = (step, names) => this.#options.add(writeOf(step, names));

  readonly signAside: FollowedStore["signAside"] = async (number) => {
    const unsigned = await this.#options.postgres.snapshot((run) => readUnsigned(run, number));
    const last = unsigned?.rows.at(-1);
    if (unsigned?.zone.settings.dnssec === undefined || last === undefined) return undefined;
    const by = { actor: last.actor, now: last.at };
    return await this.#options.signAside({ kind: "aside-needed", zone: unsigned.zone, by, keys: [] });
  };

  async #planWith(number: number, whole: boolean, aside: SignedAside | undefined): Promise<PlannedStep> {
    const { postgres, signer, schedule } = this.#options;
    const read = await postgres.snapshot(async (run) => {
      const unsigned = await readUnsigned(run, number, aside);
      return unsigned && { unsigned, ...(await readContent(run, unsigned, whole, signer)) };
    });
    if (read === undefined || read.unsigned.rows.length === 0) return undefined;
    const { zone } = read.unsigned;
    signer.load(read.keys);
    return await schedule.run(zone.account, planningStep(read.unsigned, read));
  }
}

/** Woken by the feed, also for what other nodes write. */
export function createSigning({ listen, signer, log, ...options }: SigningOptions): PostgresSigning {
  let follower: SigningFollower | undefined;
  return {
    signChanges: (isFirst = () => true) => {
      if (signer === undefined) return { lookForMore: () => undefined, end: () => undefined };
      const started = new SigningFollower(new PostgresFollowedStore({ ...options, signer }), signer, { isFirst, log });
      follower = started;
      const lookForMore = () => started.lookForMore();
      if (isFirst()) lookForMore();
      const stop = listen((rows) => (rows === undefined ? lookForMore() : started.note(rows)));
      const end = async () => {
        stop();
        started.close();
        if (follower === started) follower = undefined;
        await started.ended();
      };
      return { lookForMore, end };
    },
    signed: async (zone) => await follower?.idle(zone),
  };
}

/** The signatures, as a write that shares its transaction with others. */
const writeOf = (step: SigningStep, names: readonly NameChange[]): Write<void> => ({
  needs: [{ account: step.zone.account, at: { number: step.zone.number }, owners: () => [] }],
  addsAction: false,
  signs: { zone: step.zone.number, namesSwitch: step.namesSwitch },
  *run(batch) {
    batch.applySigned(step, names);
    yield;
  },
});

async function readUnsigned(run: Run, number: number, signed?: SignedAside): Promise<UnsignedChanges | undefined> {
  const [zones, log] = await Promise.all([
    run({ name: "zone by number", text: "SELECT * FROM zones WHERE number = $1", values: [number] }),
    run({ name: "unsigned changes", text: unsignedChanges, values: [number, mostRows + 1] }),
  ]);
  const [row] = zones.rows as ZoneRow[];
  if (row === undefined) return undefined;
  const logged = log.rows as (ChangeRow & { readonly through: number | null })[];
  const rows = logged.map(changeFromRow).filter(isWaiting).reverse();
  const zone = zoneFromRow(row);
  const unsigned = { zone, after: Number(logged[0]?.through ?? 0), rows };
  const aside = asideFor(zone, rows, signed);
  const missed = aside && (await readMissed(run, number, aside));
  return aside && missed ? { ...unsigned, aside: { ...aside, missed } } : unsigned;
}

const isWaiting = ({ change }: LoggedRow): boolean => "unsigned" in change;

/** What was written since the names were signed aside; undefined if they were removed meanwhile. */
async function readMissed(
  run: Run,
  zone: number,
  { number, through }: NamesAside,
): Promise<readonly LoggedRow[] | undefined> {
  const [reserved, missed] = await Promise.all([
    run({ name: "names aside", text: "SELECT FROM leftovers WHERE number = $1 AND kind = 'ahead'", values: [number] }),
    run({
      name: "missed changes",
      text: "SELECT * FROM changes WHERE zone = $1 AND position > $2 ORDER BY position LIMIT $3",
      values: [zone, through, mostRows + 1],
    }),
  ]);
  return reserved.rows.length === 0 ? undefined : (missed.rows as ChangeRow[]).map(changeFromRow);
}

/** What `planningStep` needs to see. */
async function readContent(run: Run, { zone, rows, aside }: UnsignedChanges, whole: boolean, signer: Signer) {
  const owners = ownersToSign(aside?.missed ?? rows);
  const signed = aside ? { ...zone, signedNamesNumber: aside.number } : zone;
  const [{ rows: sets }, names, { keys }] = await Promise.all([
    run(whole ? setsOfZones([zone.number]) : setsOfOwners([...owners].map((owner) => ({ zone: zone.number, owner })))),
    readSignedNames(run, signed, whole ? "all" : owners),
    readSignedApexes(run, [zone], signer),
  ]);
  const readSets = new BatchSets(sets as StoredSet[], new Map());
  const ifWhole = <T>(value: () => T) => {
    if (!whole) throw new ReadWholeZone();
    return value();
  };
  return {
    keys,
    names: viewOfNames(names),
    everyName: () => ifWhole(() => names),
    setsAt: (owner: string) => readSets.at(zone, owner),
    everySetKey: () => ifWhole(() => readSets.everySetKey(zone)),
  };
}

const unsignedChanges =
  `WITH signed AS MATERIALIZED (SELECT ${signedThrough("$1")} AS through) ` +
  "SELECT changes.*, signed.through FROM signed JOIN changes ON zone = $1 AND position > coalesce(through, 0) " +
  `WHERE ${isUnsigned} ORDER BY position DESC LIMIT $2`;

const logEnd = '(SELECT max(position) FROM changes) AS "end"';

const everyUnsigned: Statement = {
  name: "zones to sign",
  text:
    `SELECT ${logEnd}, ARRAY(SELECT s.zone FROM (SELECT DISTINCT zone FROM signing_keys) AS s WHERE EXISTS (` +
    `SELECT FROM changes WHERE zone = s.zone AND position > coalesce(${signedThrough("s.zone")}, 0) AND ${isUnsigned})) ` +
    "AS zones",
};

const unsignedSince = (position: number): Statement => ({
  name: "zones to sign since",
  text: `SELECT ${logEnd}, ARRAY(SELECT DISTINCT zone FROM changes WHERE position > $1 AND ${isUnsigned}) AS zones`,
  values: [position],
});
