/** What the first page of the DNS console shows. Times are ISO 8601. */
export type Overview = {
  /** How many zones the account has. */
  readonly zones: number;
  /** Those that changed last come first. */
  readonly names: readonly DynamicName[];
  /** Names that are not listed, because there are too many. */
  readonly moreNames: number;
  /** Whether an updater is known. */
  readonly updater: boolean;
  /** The latest writes, newest first. */
  readonly writes: readonly LatestWrite[];
  /** Since when the history was read; null if all of it was. */
  readonly since: string | null;
  readonly attention: readonly Attention[];
  /** Commands to try; only `moor up` has some, and only its owner sees them. */
  readonly examples: readonly Example[];
};

export type Example = { readonly about: string; readonly command: string };

/**
 * A name whose address changes automatically: an updater keeps it, a token is made for it, or a program has changed it.
 */
export type DynamicName = {
  /** The absolute name. */
  readonly name: string;
  /** Where its records are; null if they are at another service. */
  readonly at: { readonly zone: string; readonly owner: string } | null;
  /** A before AAAA; none before the first update. */
  readonly families: readonly NameFamily[];
  /** The updater in the same process, if that keeps it. */
  readonly updater: { readonly from: string; readonly checked: string | null } | null;
  /** The program that reports the address otherwise. */
  readonly device: NameDevice | null;
  /** Its addresses of the last 30 days, oldest first; the latest few if there are many. */
  readonly moves: readonly NameMove[];
};

export type NameFamily = {
  readonly type: "A" | "AAAA";
  /** What the record holds, as far as is known. */
  readonly values: readonly string[];
  /** When it was last changed, by whom, and whether that was somebody in the console; null if that is not known. */
  readonly changed: { readonly at: string; readonly by: string; readonly byHand: boolean } | null;
  /** What its updater says; null if none keeps it. */
  readonly state: {
    readonly ok: boolean;
    readonly paused?: true;
    /** The address that the record is to have. */
    readonly wanted: string | null;
    readonly what: string;
    readonly because: string;
  } | null;
};

/** `ended`: the token or key can no longer be used. */
export type NameDevice = {
  readonly name: string;
  readonly heard: string | null;
  readonly ended: "revoked" | "expired" | null;
};

/** Without an address, the record was deleted. */
export type NameMove = { readonly at: string; readonly type: "A" | "AAAA"; readonly address: string };

export type LatestWrite = {
  readonly zone: string;
  readonly serial: number;
  readonly at: string;
  readonly by: string;
  /** The first few sets; for the settings of the zone, owner and type are null. */
  readonly sets: readonly ChangedPlace[];
  /** How many more sets were changed. */
  readonly more: number;
};

export type ChangedPlace = {
  readonly kind: "create" | "replace" | "delete" | "settings";
  readonly owner: string | null;
  readonly type: string | null;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /**
   * If the values are the same: what else was changed, such as `comment` or `TTL 60 → 300`. Of the settings of a zone:
   * what became of it, such as `signed with DNSSEC`.
   */
  readonly others: readonly string[];
};

/** What somebody should look at, the most urgent first. */
export type Attention =
  | {
      readonly kind: "name-failing";
      readonly name: string;
      readonly type: "A" | "AAAA";
      readonly what: string;
      readonly because: string;
      readonly todo: string | null;
    }
  | { readonly kind: "source-down"; readonly source: string; readonly called: string; readonly because: string }
  | {
      readonly kind: "record-differs";
      readonly name: string;
      readonly type: "A" | "AAAA";
      readonly zone: string;
      readonly owner: string;
      readonly written: string;
      readonly holds: readonly string[];
    }
  /**
   * Its provider does not hold what is stored here. `trouble`: why nothing can be sent; the numbers are of record sets,
   * and `waiting` counts only those that have waited for more than a minute.
   */
  | {
      readonly kind: "not-published";
      readonly zone: string;
      readonly service: string;
      readonly refused: number;
      readonly drifted: number;
      readonly waiting: number;
      readonly trouble: { readonly text: string; readonly since: string } | null;
    }
  | { readonly kind: "zone-not-transferred"; readonly zone: string }
  | { readonly kind: "zone-expired"; readonly zone: string; readonly since: string }
  | { readonly kind: "zone-stale"; readonly zone: string; readonly checked: string; readonly expires: string }
  /**
   * Its parent has only DS records of other keys, or none any more, or something else is wrong there; `text` says what.
   */
  | { readonly kind: "ds-mismatch" | "ds-missing" | "parent-fault"; readonly zone: string; readonly text: string }
  /** It was last changed in the future, by the clock of the service. */
  | { readonly kind: "clock-behind"; readonly zone: string }
  | { readonly kind: "signatures-expire"; readonly zone: string; readonly at: string }
  | { readonly kind: "token-expired" | "token-expires"; readonly token: string; readonly at: string }
  | { readonly kind: "token-unused"; readonly token: string; readonly created: string };
