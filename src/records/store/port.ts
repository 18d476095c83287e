import type { Instant } from "../../core/instant.ts";
import type { MaybeLater } from "../../core/maybe-later.ts";
import type { NameRefusal, NewZoneName } from "../../core/names/zone-neighbours.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { StoredNames } from "../../core/records/dname.ts";
import type { RRset, SetKey } from "../../core/records/rrset.ts";
import type { Steps } from "../../core/steps.ts";
import type {
  Action,
  LeftPlace,
  LinkedRow,
  LoggedChange,
  LoggedRow,
  LogPlace,
  NewZone,
  RecordInZone,
  Zone,
  ZoneKey,
  ZoneSettings,
} from "../model.ts";
import type { EncryptedKey } from "../signing/signer.ts";
import type { StoreCounters } from "./counters.ts";
import type { FrontStore } from "./front-store.ts";
import type { Leftovers } from "./leftovers.ts";
import type { SignedZones } from "./signed-zones.ts";
import type { TokenStore } from "./token-store.ts";
import type { TransferStore } from "./transfer-keys.ts";
import type { GrantStore } from "./zone-grants.ts";

/**
 * Storage for zones, record sets, tokens and the change log. Every write is one transaction: it is completely on disk
 * when its promise resolves, and has no effect when the promise rejects. Writes to one zone are serialized.
 */
export type RecordStore = StoreParts & {
  readonly zone: (account: number, id: string) => MaybeLater<Zone | undefined>;
  readonly zoneBy: (account: number, key: ZoneKey) => MaybeLater<Zone | undefined>;
  /** Of any account. Cheaper than `zoneHolding`: anybody can ask for names of 120 labels. */
  readonly zoneNamed: (name: string) => Promise<Zone | undefined>;
  /** The zone, of any account, that contains a name: the zone of that name, or the closest one above it. */
  readonly zoneHolding: (name: string) => Promise<Zone | undefined>;
  readonly zones: (account: number, query: ZoneQuery) => Promise<Page<Zone>>;
  /** In the order of names, after the given one, to read any number of zones in parts (`allZones`). */
  readonly zonesAfter: (account: number, after: string, limit: number, filter: ZoneFilter) => Promise<readonly Zone[]>;
  /** Why such a zone cannot be created at the moment. */
  readonly obstacleTo: (newZone: NewZoneName) => Promise<NotCreated | undefined>;

  readonly record: (account: number, id: string) => MaybeLater<RecordInZone | undefined>;
  readonly sets: (zone: Zone, query: SetQuery) => Promise<readonly RRset[]>;
  /** In the order of owners and types, after the given one, to read a large zone in parts. */
  readonly setsAfter: (zone: Zone, after: SetKey | undefined, limit: number) => Promise<readonly RRset[]>;
  /** The same without reading the records. */
  readonly setKeysAfter: (zone: Zone, after: SetKey | undefined, limit: number) => Promise<readonly SetKey[]>;
  /** In one query, which takes longer the larger the zone is: a large one is read in parts (`pageOfSets`). */
  readonly setPage: (zone: Zone, query: SetPageQuery) => Promise<Page<RRset>>;
  /**
   * The only way to change zones. `ruleOf` says what the command means. `running` is for a command that may take long.
   */
  readonly run: <C extends Command, R extends Rule>(
    command: C,
    ruleOf: (command: C) => R,
    running?: RunningAction,
  ) => Promise<ResultOf<R>>;
  /** Actions are dropped after a week, or earlier if there are very many newer ones. */
  readonly actions: (account: number, query: ActionQuery) => Promise<Page<Action>>;
  /** Stores an action of a write that takes long. It counts as interrupted after `until`, unless that is extended. */
  readonly startAction: (
    zone: Zone,
    actionName: string,
    by: WrittenBy & { readonly until: Instant },
  ) => Promise<Action>;
  readonly extendAction: (id: number, until: Instant) => Promise<unknown>;
  /** Without an error: it was successful. */
  readonly endAction: (id: number, now: Instant, error?: string) => Promise<unknown>;

  /** The changes after `position`, oldest first. With `account`, the rows of other accounts are not read. */
  readonly changesAfter: (position: number, limit: number, account?: number) => Promise<readonly LoggedChange[]>;
  /** The same with the changes of signatures. */
  readonly logAfter: (position: number, limit: number) => Promise<readonly LoggedRow[]>;
  /** The end of the log. */
  readonly logEnd: () => Promise<LogPlace>;
  /** The rows after a place, oldest first; or what is needed to continue here, if the place is not in this log. */
  readonly logFrom: (place: LogPlace, limit: number) => Promise<readonly LinkedRow[] | DivergedLog>;
  /** Another value after a standby took over; empty if that cannot happen. */
  readonly timeline: () => Promise<string>;
  /** What the log has lost while a reader was stopped; undefined if nothing. */
  readonly lostSince: (left: LeftPlace) => Promise<DivergedLog | undefined>;
  /** The changes of an account, newest first, among the latest rows of its log. */
  readonly latestChanges: (account: number, query: LatestQuery) => Promise<LatestChanges>;
  /** The position of the last change in the log; 0 if it is empty. */
  readonly lastChange: () => Promise<number>;
  /** The changes of one zone, newest first, before a position if one is given. */
  readonly historyOf: (zone: Zone, query: HistoryQuery) => Promise<readonly LoggedChange[]>;
  /** The same with the changes of signatures. */
  readonly logOf: (zone: Zone, query: HistoryQuery) => Promise<readonly LoggedRow[]>;
  /** Groups the changes before a position by write, newest first. The oldest write may be incomplete. */
  readonly writesOf: (zone: Zone, query: WritesQuery) => Promise<readonly LoggedWrite[]>;
  /** How many changes of the same write precede this one in the zone's history. */
  readonly precedingInWrite: (zone: Zone, change: LoggedChange) => Promise<number>;
  /**
   * Calls back after every commit that added to the change log, before the writer gets its answer. Returns a function
   * that unsubscribes.
   */
  readonly onChange: (listener: ChangeListener) => () => void;
  /**
   * Calls back when access may have been revoked, by any process or node: a token or transfer key was revoked, or a
   * console session ended. Open connections must then be checked again. Returns a function that unsubscribes.
   */
  readonly onAccessChange: (listener: () => void) => () => void;
  /** For `/metrics`. */
  readonly counters: StoreCounters;
  /** Finishes pending work first. */
  readonly close: () => void | Promise<void>;
};

type StoreParts = TokenStore & TransferStore & GrantStore & SignedZones & Leftovers & FrontStore;

export type NotCreated = "name-taken" | NameRefusal;

export type ZoneFilter = {
  /** Exactly this name, so there is at most one result. */
  readonly name?: string;
  /** Part of a name. */
  readonly search?: string;
  /** Only zones with these names. */
  readonly within?: readonly string[];
  readonly mode?: ZoneSettings["mode"];
};

export type ZoneQuery = ZoneFilter & {
  /** Default: by age. */
  readonly order?: readonly Order<"id" | "name" | "created">[];
  readonly page: number;
  readonly perPage: number;
};

export type Page<T> = { readonly items: readonly T[]; readonly total: number };

export type Order<By extends string> = { readonly by: By; readonly descending: boolean };

/** Unless `order` says otherwise, sorted by type, then by name with the apex first. */
export type SetPageQuery = {
  readonly owners?: readonly string[];
  readonly types?: readonly RecordType[];
  readonly order?: readonly Order<"id" | "name">[];
  readonly page: number;
  readonly perPage: number;
};

export type SetQuery = {
  readonly owner?: string;
  /** Several owners instead of one, read at one moment and returned in this order. */
  readonly owners?: readonly string[];
  readonly type?: RecordType;
};

export type WriteRequest = WrittenBy & {
  readonly account: number;
  /** The zone to write to, or the zone that contains this record. */
  readonly at: { readonly zone: string } | { readonly record: string };
  /**
   * The owners whose sets `decide` sees and may change. That of the record in `at` is always included.
   * `to-remove`: the whole zone, which may only be removed; of a large one, `decide` sees the apex and protected sets.
   */
  readonly owners: "all" | "to-remove" | ((zone: Zone) => readonly string[]);
  /** Further records: their current owners are included too. */
  readonly records?: readonly string[];
};

/** What a caller wants, as plain data. `records/rules.ts` has all kinds. */
export type Command = {
  readonly kind: string;
  /** If the token, session or transfer key has ended when the command is decided, it is rejected with `AccessEnded`. */
  readonly actor?: { readonly token?: number; readonly session?: number; readonly key?: number };
  /** How many sets, records or lines it contains; absent: a few. */
  readonly parts?: number;
  /**
   * Everything is read, decided and checked as usual, but nothing is written. For the rules `action` and `create`; a
   * zone that would be created has the number 0.
   */
  readonly isTrial?: boolean | undefined;
};

/** What a command means: what has to be read, and the rule that decides. */
export type Rule = WriteRule<unknown> | WriteAllRule<unknown> | ActionRule<unknown> | CreateRule | CreateActionRule;

/** A write to one zone. The result is undefined if the account has no such zone or record. */
export type WriteRule<T> = { readonly kind: "write"; readonly request: WriteRequest; readonly decide: Decide<T> };

/** Writes to several zones in one transaction, all or nothing. No two requests may be for the same zone. */
export type WriteAllRule<T> = {
  readonly kind: "write-all";
  readonly requests: readonly WriteRequest[];
  readonly decide: DecideAll<T>;
};

/**
 * A write that is recorded as an action, in the same transaction. The result is `"no-zone"` if the account has no such
 * zone. With an idempotency key, it is the earlier result for that key, or `"key-taken"` if the key was used for
 * another request.
 */
export type ActionRule<T> = {
  readonly kind: "action";
  readonly request: ActionRequest;
  readonly decide: DecideAction<T>;
};

/** Whether the name may become a zone is decided inside the transaction (core/names/zone-neighbours.ts). */
export type CreateRule = { readonly kind: "create"; readonly zone: NewZone; readonly actor: string };
export type CreateActionRule = { readonly kind: "create-action"; readonly zone: NewZone; readonly action: NewAction };

export type ResultOf<R extends Rule> =
  R extends WriteRule<infer T>
    ? T | undefined
    : R extends WriteAllRule<infer T>
      ? T
      : R extends ActionRule<infer T>
        ? ActionResult<T> | "no-zone" | "key-taken"
        : R extends CreateActionRule
          ? ActionResult<Zone> | NotCreated | "key-taken"
          : Zone | NotCreated;

/**
 * The rule of one write. It sees the zone inside the transaction and returns what the sets of the requested owners
 * should become. `wanted: undefined` changes nothing. It must be pure: it is called again if the transaction is
 * repeated.
 */
export type Decide<T> = (view: WriteView) => Decision & { readonly result: T };

/** One decision per request, in order, in steps if it takes long; no view if there is no such zone or record. */
export type DecideAll<T> = (views: readonly (WriteView | undefined)[]) => AllDecided<T> | Steps<AllDecided<T>>;

export type AllDecided<T> = { readonly decisions: readonly Decision[]; readonly result: T };

export type WriteView = {
  readonly zone: Zone;
  /** Of the requested owners. */
  readonly sets: readonly RRset[];
  /** Of the whole zone; a rule may only ask about names that it was given, and names above them. */
  readonly storedNames: StoredNames;
  /** Values that an edit may leave in one set; absent: the usual number. */
  readonly mostValues?: number | undefined;
};

export type Decision = {
  readonly wanted: readonly RRset[] | undefined;
  /** The serial of the primary server, for a change that was transferred from it. Default: the next one. */
  readonly serial?: number | undefined;
  /** Default: unchanged. */
  readonly settings?: ZoneSettings;
  /** Names in a signed zone whose signatures are renewed if they expire soon; `all`: all are signed again. */
  readonly renew?: readonly string[] | "all";
  /** Private keys that the new settings name. Keys that the settings no longer name are deleted. */
  readonly keys?: readonly EncryptedKey[];
};

/** `owners` and `records` as in `WriteRequest`. */
export type ActionRequest = WrittenOnce &
  Pick<WriteRequest, "account" | "owners" | "records"> & { readonly at: ZoneKey };

/** Filled in when the action of a write was stored while the write goes on. The write then ends this action. */
export type RunningAction = { id?: number };

type WrittenBy = { readonly actor: string; readonly now: Instant };
type WrittenOnce = WrittenBy & { readonly idempotencyKey?: IdempotencyKey };
export type NewAction = WrittenOnce & { readonly actionName: string };

/** The same key with the same fingerprint is the same request, repeated within a day. Keys are separate per actor. */
export type IdempotencyKey = { readonly key: string; readonly fingerprint: string };
export type ActorKey = IdempotencyKey & { readonly actor: string };

/** Like `Decide`; a rule that takes long for a large zone returns its decision in steps. */
export type DecideAction<T> = (view: WriteView) => ActionDecision<T> | Steps<ActionDecision<T>>;

/** Without `actionName`, neither an action nor the idempotency key is stored; `remember` stores the key anyway. */
export type ActionDecision<T> = Decision & {
  readonly actionName?: string;
  readonly remember?: boolean;
  /** Deletes the zone and its sets; needs `owners: "to-remove"`. The log lists only the sets that `decide` saw. */
  readonly remove?: boolean;
  /** Plain data, because it is stored with the key as JSON. */
  readonly result: T;
};

export type ActionResult<T> = {
  readonly result: T;
  readonly action: Action | undefined;
  /** The serial of the zone after this write. */
  readonly serial: number;
};

export type ActionQuery = {
  /** To tell which actions were interrupted. */
  readonly now: Instant;
  /** Only actions in one of these states. */
  readonly status?: readonly ActionStatus[];
  readonly ids?: readonly number[];
  readonly zone?: number;
  /** Only actions of this actor. */
  readonly actor?: string;
  /** Only actions on zones with these names. */
  readonly within?: readonly string[];
  readonly order?: readonly Order<"id" | "command" | "started">[];
  readonly page: number;
  readonly perPage: number;
};

export type ActionStatus = "running" | "success" | "error";

/** `limit`: how many rows are examined, before a position if one is given. */
export type LatestQuery = { readonly before?: number | undefined; readonly limit: number };

/** `next`: pass it as `before` to continue; undefined at the end. */
export type LatestChanges = { readonly changes: readonly LoggedChange[]; readonly next: number | undefined };

export type HistoryQuery = {
  readonly before?: number | undefined;
  /** The oldest position. */
  readonly from?: number;
  readonly serial?: number;
  readonly match?: ChangeMatch;
  readonly limit: number;
};

/** All that are given must hold. A change of the zone's settings has neither owner nor type. */
export type ChangeMatch = {
  readonly owner?: string | undefined;
  /** Default: `owner` may be a part of the name. */
  readonly isWholeOwner?: boolean;
  readonly type?: string | undefined;
  /** Part of the actor's label. */
  readonly actor?: string | undefined;
};

/** `window`: how many changes are examined. */
export type WritesQuery = {
  readonly before?: number | undefined;
  readonly window: number;
  readonly match: ChangeMatch;
};

/** The changes of one write that were examined. */
export type LoggedWrite = {
  readonly serial: number;
  readonly at: Instant;
  readonly actor: string;
  /** Positions. */
  readonly newest: number;
  readonly oldest: number;
  /** The position of the newest change that matches; 0 if there is none. */
  readonly hit: number;
  readonly added: number;
  readonly replaced: number;
  readonly deleted: number;
  readonly settings: number;
  /** Whether it created the zone. */
  readonly begins: boolean;
};

/** The end of the log was lost after a reader had read it: a lagging standby took over, or a backup was restored. */
export type DivergedLog = {
  /** Which of these places this log has too. */
  readonly placesStillInLog: (places: readonly LogPlace[]) => Promise<ReadonlySet<number>>;
  /** Later rows get positions after this one. */
  readonly skipTo: (position: number) => Promise<void>;
};

/**
 * `rows` are the added rows, if they are known without reading; their positions are contiguous. There may be rows of
 * other writers before them, unless `places.after` is the last place that the listener knows.
 */
export type ChangeListener = (rows?: readonly LoggedRow[], places?: AddedPlaces) => void;

/** The places before and after added rows. */
export type AddedPlaces = { readonly after: LogPlace; readonly end: LogPlace };

/** The token, session or transfer key of a request ended while it was worked on; nothing was written. */
export class AccessEnded extends Error {}
