import type { NameChange } from "../../../../core/dnssec/plan-signing.ts";
import type { Postgres } from "../../../../lib/postgres/open.ts";
import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";
import type { EndWork } from "../../../../process/duties.ts";
import type { Logger } from "../../../../process/log.ts";
import type { Signer } from "../../../signing/signer.ts";
import type { RecordStore } from "../../port.ts";
import { type ChangeRow, changeFromRow, type ZoneRow, zoneFromRow } from "../../rows.ts";
import {
  type FollowedStore,
  ownersToSign,
  type PlannedStep,
  planStep,
  SigningFollower,
  type SigningStep,
  signAgainRule,
  type UnsignedChanges,
} from "../../signed/signing-follower.ts";
import { ReadWholeZone } from "../batch.ts";
import { setsOfOwners, setsOfZones } from "../batch-read.ts";
import { BatchSets, type StoredSet } from "../batch-sets.ts";
import type { Write } from "../queue.ts";
import { createBatchNames, readSignedNames } from "./names.ts";
import { isUnsigned, signedThrough } from "./signed-through.ts";

type FollowedStoreOptions = {
  readonly postgres: Pick<Postgres, "read" | "snapshot">;
  readonly signer: Signer;
  readonly add: <T>(write: Write<T>) => Promise<T>;
  readonly run: RecordStore["run"];
};

type SigningDutyOptions = Omit<FollowedStoreOptions, "signer"> & {
  readonly signer: Signer | undefined;
  readonly listen: RecordStore["onChange"];
  readonly log: Logger;
};

type Run = (statement: Statement) => Promise<Rows>;

/** Rows of the log that are planned together; if there are more, the whole zone is signed. */
const mostRows = 5_000;

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

  readonly plan: FollowedStore["plan"] = async (number) => {
    try {
      return await this.#planWith(number, false);
    } catch (error) {
      if (error instanceof ReadWholeZone) return await this.#planWith(number, true);
      throw error;
    }
  };

  readonly commit: FollowedStore["commit"] = (step, names) => this.#options.add(writeOf(step, names));

  readonly signWhole: FollowedStore["signWhole"] = async (number) => {
    const unsigned = await this.#options.postgres.snapshot((run) => readUnsigned(run, number));
    const last = unsigned?.rows.at(-1);
    if (unsigned === undefined || last === undefined) return;
    const { zone } = unsigned;
    await this.#options.run({ kind: "sign-whole", parts: zone.recordCount }, () => signAgainRule(zone, last.at));
  };

  async #planWith(number: number, whole: boolean): Promise<PlannedStep> {
    const { postgres, signer } = this.#options;
    const read = await postgres.snapshot(async (run) => {
      const unsigned = await readUnsigned(run, number);
      return unsigned && { unsigned, ...(await readContent(run, unsigned, whole, signer)) };
    });
    if (read === undefined || read.unsigned.rows.length === 0) return undefined;
    if (read.unsigned.rows.length >= mostRows) return "whole";
    signer.load(read.keys);
    return planStep(read.unsigned, read);
  }
}

type SigningDuty = {
  /** As in `PostgresStore`. */
  readonly signChanges: () => EndWork;
  /** As in `SignedZones`; if another node signs, it is not waited for. */
  readonly signed: () => Promise<void>;
};

/** Woken by the feed, also for what other nodes write. */
export function createSigningDuty({ listen, signer, log, ...options }: SigningDutyOptions): SigningDuty {
  let follower: SigningFollower | undefined;
  return {
    signChanges: () => {
      if (signer?.follows !== true) return () => undefined;
      const started = new SigningFollower(new PostgresFollowedStore({ ...options, signer }), signer, log);
      follower = started;
      started.lookForMore();
      const stop = listen((rows) => (rows === undefined ? started.lookForMore() : started.note(rows)));
      return async () => {
        stop();
        started.close();
        if (follower === started) follower = undefined;
        await started.ended();
      };
    },
    signed: async () => await follower?.idle(),
  };
}

/** The signatures, as a write that shares its transaction with others. */
const writeOf = (step: SigningStep, names: readonly NameChange[]): Write<void> => ({
  needs: [{ account: step.zone.account, at: { number: step.zone.number }, owners: () => [] }],
  addsAction: false,
  signs: step.zone.number,
  *run(batch) {
    batch.applySigned(step, names);
    yield;
  },
});

async function readUnsigned(run: Run, number: number): Promise<UnsignedChanges | undefined> {
  const [zones, log] = await Promise.all([
    run({ name: "zone by number", text: "SELECT * FROM zones WHERE number = $1", values: [number] }),
    run({ name: "unsigned changes", text: unsignedChanges, values: [number, mostRows] }),
  ]);
  const [row] = zones.rows as ZoneRow[];
  const zone = row && zoneFromRow(row);
  if (zone?.settings.dnssec === undefined) return undefined;
  const rows = log.rows as (ChangeRow & { readonly through: number | null })[];
  return {
    zone,
    after: Number(rows[0]?.through ?? 0),
    rows: rows
      .map(changeFromRow)
      .filter(({ change }) => "unsigned" in change)
      .reverse(),
  };
}

/** What `planStep` needs to see. */
async function readContent(run: Run, { zone, rows }: UnsignedChanges, whole: boolean, signer: Signer) {
  const owners = ownersToSign(rows);
  const wanted = new Map([[zone.number, whole ? ("all" as const) : owners]]);
  const [{ rows: sets }, { names: namesByZone, keys }] = await Promise.all([
    run(whole ? setsOfZones([zone.number]) : setsOfOwners([...owners].map((owner) => ({ zone: zone.number, owner })))),
    readSignedNames(run, [zone], wanted, signer),
  ]);
  const readSets = new BatchSets(sets as StoredSet[], new Map());
  const names = createBatchNames(namesByZone.get(zone.number) ?? []);
  const ifWhole = <T>(value: () => T) => {
    if (!whole) throw new ReadWholeZone();
    return value();
  };
  return {
    keys,
    names: names.view,
    everyName: () => ifWhole(names.every),
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
