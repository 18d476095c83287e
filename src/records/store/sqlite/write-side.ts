import { DatabaseSync } from "node:sqlite";
import { type NewZoneName, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Steps } from "../../../core/steps.ts";
import { isLarge, type NewZone, type Zone } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import type { SignedReads } from "../plan-signatures.ts";
import { AccessEnded, type Command, type NotCreated, type WriteRequest, type WriteView } from "../port.ts";
import { serialAfter } from "../write-effect.ts";
import { prepareActions } from "./actions.ts";
import type { ForeignCommits } from "./foreign-commits.ts";
import { createKnownRows } from "./known-rows.ts";
import { prepareNeighbours } from "./neighbours.ts";
import { prepareReads } from "./read.ts";
import { prepareSignedNames, type SignedNames } from "./signed/names.ts";
import { SigningTogether } from "./signed/together.ts";
import { prepareSetWriter } from "./write.ts";
import type { Edges } from "./write-queue.ts";

/** Up to this many owners are read in one step; if there are more, each takes one step. */
const fewOwners = 10;

/** Everything that a write reads and writes, on one connection. `mostValues`: as in `WriteView`. Without a signer, no writes are signed together. */
export function prepareWriteSide(database: DatabaseSync, mostValues?: number, signer?: Signer) {
  const read = prepareReads(database);
  let signed: SignedNames | undefined;
  /** Prepared on first use: most stores have no signed zone. */
  const signedNames = (): SignedNames => {
    signed ??= prepareSignedNames(database);
    return signed;
  };
  const known = createKnownRows({ ...read, signedName: (zone, owner) => signedNames().at(zone, owner) });
  const writer = prepareSetWriter(database, known, signedNames);
  const neighboursOf = prepareNeighbours(database);
  const insertZone = database.prepare(
    "INSERT INTO zones (id, account, name, settings, serial, record_count, created, modified) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const deleteZone = database.prepare("DELETE FROM zones WHERE number = ?");
  const insertDeparted = database.prepare(
    "INSERT INTO departed_zones (name, serial) VALUES (?, ?) ON CONFLICT DO UPDATE SET serial = excluded.serial",
  );
  const selectToken = database.prepare("SELECT 1 FROM tokens WHERE id = ? AND revoked IS NOT NULL");
  const selectSession = database.prepare("SELECT 1 FROM console_sessions WHERE id = ?");
  const selectKey = database.prepare("SELECT 1 FROM transfer_keys WHERE name = ? AND revoked IS NOT NULL");
  const selectDeparted = database.prepare("SELECT serial FROM departed_zones WHERE name = ?");

  const viewOf = (zone: Zone, sets: readonly RRset[]): WriteView => ({
    zone,
    sets,
    around: read.around(zone),
    mostValues,
  });

  const signedReads = (zone: Zone): SignedReads => ({
    names: { ...signedNames().chainOf(zone), at: (owner) => known.signedName(zone, owner) },
    everyName: () => signedNames().every(zone),
    setsAt: (owner) => known.setsAt(zone, owner),
    everyType: () => read.eachType(zone),
  });

  function* viewingAll(zone: Zone): Steps<WriteView> {
    const sets: RRset[] = [];
    for (const set of read.eachSet(zone)) {
      sets.push(set);
      yield;
    }
    return viewOf(zone, sets);
  }

  function* viewingOwners(zone: Zone, owners: readonly string[]): Steps<WriteView> {
    const sets: RRset[] = [];
    for (const owner of owners) {
      sets.push(...known.setsAt(zone, owner));
      yield;
    }
    return viewOf(zone, sets);
  }

  /** In steps, if it is the whole zone or many owners. */
  const viewInto = (zone: Zone, request: Pick<WriteRequest, "owners" | "records">, owner?: string) => {
    if (request.owners === "to-remove" && isLarge(zone)) return viewOf(zone, read.setsToRemove(zone));
    if (request.owners === "all" || request.owners === "to-remove") return viewingAll(zone);
    const owners = new Set(request.owners(zone));
    if (owner !== undefined) owners.add(owner);
    for (const record of request.records ?? []) {
      const other = known.place(record);
      if (other?.zone === zone.id) owners.add(other.owner);
    }
    if (owners.size > fewOwners) return viewingOwners(zone, [...owners]);
    return viewOf(
      zone,
      [...owners].flatMap((each) => known.setsAt(zone, each)),
    );
  };

  return {
    database,
    read,
    known,
    signedNames,
    signedReads,
    writer,
    together: new SigningTogether(signedReads, writer, signer),
    actions: prepareActions(database),
    viewInto,

    view: (request: WriteRequest): WriteView | Steps<WriteView> | undefined => {
      const { at } = request;
      const place = "record" in at ? known.place(at.record) : { zone: at.zone, owner: undefined };
      const zone = place && known.zone(place.zone);
      return zone?.account === request.account ? viewInto(zone, request, place?.owner) : undefined;
    },

    /** Throws if the token, session or transfer key of the command has ended. */
    expectAccess: ({ actor }: Command): void => {
      const ended =
        (actor?.token !== undefined && selectToken.get(actor.token) !== undefined) ||
        (actor?.session !== undefined && selectSession.get(actor.session) === undefined) ||
        (actor?.key !== undefined && selectKey.get(actor.key) !== undefined);
      if (ended) throw new AccessEnded();
    },

    /** Reads from the database, because the cache may be older than what another process committed. */
    obstacleTo: (wish: NewZoneName): NotCreated | undefined =>
      read.zoneBy({ name: wish.name }) === undefined ? refusalOfName(wish, neighboursOf(wish)) : "name-taken",

    /** Without its sets. */
    createZone: (zone: NewZone): void => {
      const { id, account, name, settings, created: at, sets } = zone;
      const last = selectDeparted.get(name) as { readonly serial: number } | undefined;
      const serial = serialAfter(last?.serial, zone);
      const count = sets.reduce((sum, set) => sum + set.records.length, 0);
      insertZone.run(id, account, name, JSON.stringify(settings), serial, count, at, at);
    },

    /** In the transaction that creates it. */
    createdZone: (id: string): Zone => {
      const made = known.zone(id);
      if (made === undefined) throw new Error("a zone that was just written cannot be read");
      return made;
    },

    /** `before`: the zone before this write, which has deleted its sets, unless it is large. */
    removeZone: (zone: Zone, before: Zone): void => {
      insertDeparted.run(zone.name, zone.serial);
      deleteZone.run(zone.number);
      if (zone.namesAt !== undefined) signedNames().leave(zone.namesAt, "names");
      if (isLarge(before)) signedNames().leave(zone.number, "zone");
      writer.removed(zone);
    },
  };
}

export type WriteSide = ReturnType<typeof prepareWriteSide>;

/** What a transaction of this connection does to its rows in memory and its log. */
export const edgesOf = (
  { known, writer, together }: Pick<WriteSide, "known" | "writer" | "together">,
  foreign: Pick<ForeignCommits, "checkNow">,
): Edges => ({
  begun: () => {
    foreign.checkNow();
    writer.begun();
  },
  ending: () => {
    together.signAll();
    writer.ending();
  },
  rolledBack: () => {
    together.forget();
    known.forget();
  },
  committed: writer.logged,
});

/**
 * Another connection to the file of a store. It never checkpoints, which would take long, and writes pages to the log
 * as it goes, so that the commit itself is short.
 */
export function openWriteSide(path: string, mostValues?: number): WriteSide {
  const database = new DatabaseSync(path);
  try {
    database.exec(settings);
    return prepareWriteSide(database, mostValues);
  } catch (error) {
    database.close();
    throw error;
  }
}

const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA cache_size = -4096;
`;
