import type { Instant } from "../../core/instant.ts";
import type { NameRefusal, NewZoneName } from "../../core/names/zone-neighbours.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type {
  Account,
  Action,
  LoggedChange,
  NewToken,
  NewZone,
  PlacedRecord,
  Token,
  Zone,
  ZoneKey,
  ZoneSettings,
} from "../model.ts";
import type { StoreCounters } from "./counters.ts";
import type { TransferStore } from "./transfer-keys.ts";
import type { GrantStore } from "./zone-grants.ts";

/**
 * Where zones, record sets, tokens and the change log are kept. Every write is one transaction: it is on disk, whole, when
 * its promise resolves, and nothing of it is there when the promise rejects. Writes to one zone happen one after another.
 */
export type RecordStore = StoreParts & {
  readonly account: (name: string) => Promise<Account | undefined>;
  readonly ensureAccount: (name: string, now: Instant) => Promise<Account>;
  readonly addToken: (token: NewToken) => Promise<Token>;
  readonly tokenByHash: (hash: string) => Promise<Token | undefined>;
  readonly tokens: () => Promise<readonly Token[]>;
  /** True when a token that was still good has been revoked. */
  readonly revokeToken: (id: number, now: Instant) => Promise<boolean>;
  /** A secret of this database under a name, the same for all nodes and made when first asked for. */
  readonly secret: (name: string) => Promise<string>;
  /** Counts one use. Costs no write: what was counted is written together, every few seconds and when the store closes. */
  readonly noteUse: (id: number, now: Instant) => void;

  readonly zone: (account: number, id: string) => Promise<Zone | undefined>;
  readonly zoneBy: (account: number, key: ZoneKey) => Promise<Zone | undefined>;
  /** The zone of any account that holds a name: the closest one above it, or of that very name. */
  readonly zoneHolding: (name: string) => Promise<Zone | undefined>;
  readonly zones: (account: number, query: ZoneQuery) => Promise<Page<Zone>>;
  /** Whether the name may become a zone is decided inside the transaction (core/names/zone-neighbours.ts). */
  readonly createZone: (zone: NewZone, actor: string) => Promise<Zone | NotCreated>;
  /** Why such a zone would not be made as things are. */
  readonly obstacleTo: (wish: NewZoneName) => Promise<NotCreated | undefined>;

  readonly record: (account: number, id: string) => Promise<PlacedRecord | undefined>;
  readonly sets: (zone: Zone, query: SetQuery) => Promise<readonly RRset[]>;
  /** In the order of owners and types, after a given one: a large zone in parts. */
  readonly setsAfter: (
    zone: Zone,
    after: Pick<RRset, "owner" | "type"> | undefined,
    limit: number,
  ) => Promise<readonly RRset[]>;
  readonly setPage: (zone: Zone, query: SetPageQuery) => Promise<Page<RRset>>;
  /** Undefined when the account has no such zone or record; otherwise what `decide` gave as its result. */
  readonly write: <T>(request: WriteRequest, decide: Decide<T>) => Promise<T | undefined>;
  /** Several zones in one transaction: all of it is done, or nothing. No two requests are for the same zone. */
  readonly writeAll: <T>(requests: readonly WriteRequest[], decide: DecideAll<T>) => Promise<T>;

  /**
   * A write that is kept as an action: that is there exactly when the write is. `"no-zone"` when the account has none; with
   * `once`, what was done under that key before is told again, or `"key-taken"` when the key was for something else.
   */
  readonly act: <T>(request: ActRequest, decide: DecideAct<T>) => Promise<Acted<T> | "no-zone" | "key-taken">;
  readonly actCreateZone: (zone: NewZone, act: NewAction) => Promise<Acted<Zone> | NotCreated | "key-taken">;
  /** Actions are dropped when they are a week old, or when there are very many newer ones. */
  readonly actions: (account: number, query: ActionQuery) => Promise<Page<Action>>;

  /** The change log after `position`, oldest first; of one account without reading the others' rows. */
  readonly changesAfter: (position: number, limit: number, account?: number) => Promise<readonly LoggedChange[]>;
  /** The position of the last change in the log; 0 when there is none. */
  readonly lastChange: () => Promise<number>;
  /** What was done to one zone, newest first, before `position` when one is given. */
  readonly historyOf: (zone: Zone, query: HistoryQuery) => Promise<readonly LoggedChange[]>;
  /** How many changes of its own write stand in the zone's history before this one. */
  readonly restOfWrite: (zone: Zone, change: LoggedChange) => Promise<number>;
  /** Calls back after every commit that has added to the change log, before the writer has its answer. Gives the way to end it. */
  readonly onChange: (listener: ChangeListener) => () => void;
  /**
   * Calls back when access may have been taken away, here or by another process or node: a token or transfer key was revoked,
   * or a console session ended. What was opened with one must be checked again. Gives the way to end it.
   */
  readonly onAccessChange: (listener: () => void) => () => void;
  /** What it has done so far, for `/metrics`. */
  readonly counters: StoreCounters;
  /** What is under way is ended first. */
  readonly close: () => void | Promise<void>;
};

type StoreParts = TransferStore & GrantStore;

export type NotCreated = "name-taken" | NameRefusal;

export type ZoneQuery = {
  /** Exactly this one: there is no second page. */
  readonly name?: string;
  /** Part of a name. */
  readonly search?: string;
  /** Only zones of these names. */
  readonly within?: readonly string[];
  /** Only zones whose names come after this one: pages by it miss none, whatever is deleted meanwhile. */
  readonly after?: string;
  readonly mode?: ZoneSettings["mode"];
  readonly label?: LabelTest;
  /** By age when not said. */
  readonly order?: readonly Order<"id" | "name" | "created">[];
  readonly page: number;
  readonly perPage: number;
};

/** There is a label of this key, with one of these values when they are given; or, with `not`, there is none such. */
export type LabelTest = { readonly key: string; readonly values: readonly string[] | undefined; readonly not: boolean };

export type Page<T> = { readonly items: readonly T[]; readonly total: number };

export type Order<By extends string> = { readonly by: By; readonly descending: boolean };

/** Sorted by type, then name, the zone's own first, as far as `order` does not say otherwise. */
export type SetPageQuery = {
  readonly owners?: readonly string[];
  readonly types?: readonly RecordType[];
  readonly order?: readonly Order<"id" | "name">[];
  readonly page: number;
  readonly perPage: number;
};

export type SetQuery = {
  readonly owner?: string;
  /** Instead of one: those of several, as they were at one moment and in the order of these. */
  readonly owners?: readonly string[];
  readonly type?: RecordType;
};

export type WriteRequest = {
  readonly account: number;
  /** The zone to write to, or the zone that holds a record. */
  readonly at: { readonly zone: string } | { readonly record: string };
  /** The owners whose sets `decide` sees and may change. The owner of the record named in `at` is always one of them. */
  readonly owners: "all" | ((zone: Zone) => readonly string[]);
  /** Further records: their owners are asked for too, wherever in the zone they stand by then. */
  readonly records?: readonly string[];
  readonly actor: string;
  readonly now: Instant;
};

/**
 * The rule of one write: sees the zone as it is inside the transaction and says what the sets of the requested owners shall
 * be. `wanted: undefined` leaves all as it is. Must be pure: it may be called again when the transaction has to be repeated.
 */
export type Decide<T> = (view: WriteView) => Decision & { readonly result: T };

/** One decision for each request, in their order; an account that has no such zone or record has no view of it. */
export type DecideAll<T> = (views: readonly (WriteView | undefined)[]) => {
  readonly decisions: readonly Decision[];
  readonly result: T;
};

export type WriteView = { readonly zone: Zone; readonly sets: readonly RRset[] };

export type Decision = {
  readonly wanted: readonly RRset[] | undefined;
  /** That of a primary server, for a change that comes from there; the next one when left out. */
  readonly serial?: number | undefined;
  /** Left out: as they are. */
  readonly settings?: ZoneSettings;
};

/** `owners` and `records` are asked for as in a `WriteRequest`. */
export type ActRequest = NewAct & Pick<WriteRequest, "account" | "owners" | "records"> & { readonly at: ZoneKey };

type NewAct = { readonly actor: string; readonly now: Instant; readonly once?: Once };
export type NewAction = NewAct & { readonly command: string };

/** The same key with the same fingerprint is the same request, sent again within a day. Keys are each actor's own. */
export type Once = { readonly key: string; readonly fingerprint: string };

/** As `Decide`. Without a command nothing is kept: neither an action nor the key, unless that is to be remembered. */
export type DecideAct<T> = (view: WriteView) => Decision & {
  readonly command?: string;
  readonly remember?: boolean;
  /** The zone goes, with all that is in it. Only for those who asked for all owners. */
  readonly remove?: boolean;
  /** Plain data: it is kept with the key as JSON. */
  readonly result: T;
};

export type Acted<T> = {
  readonly result: T;
  readonly action: Action | undefined;
  /** Of the zone, as this write has left it. */
  readonly serial: number;
};

export type ActionQuery = {
  readonly ids?: readonly number[];
  readonly zone?: number;
  /** Only of this actor. */
  readonly actor?: string;
  /** Only of zones of these names. */
  readonly within?: readonly string[];
  readonly order?: readonly Order<"id" | "command" | "started">[];
  readonly page: number;
  readonly perPage: number;
};

export type HistoryQuery = { readonly before?: number; readonly serial?: number; readonly limit: number };

/** `rows` are what was added, where that is known without reading: rows of others may have come before or between. */
export type ChangeListener = (rows?: readonly LoggedChange[]) => void;
