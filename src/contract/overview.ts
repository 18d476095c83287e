/** What the first page of the DNS console shows. Times are ISO 8601. */
export type Overview = {
  /** How many zones the account has. */
  readonly zones: number;
  /** The names whose address changes automatically: those of the updater, and those that a program has changed. */
  readonly names: readonly MovingName[];
  /** Whether a known updater keeps names. Otherwise, the names are those that changed according to the history. */
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

export type MovingName = {
  /** The absolute name. */
  readonly name: string;
  readonly type: "A" | "AAAA";
  /** Where the record is; null if it is at another service. */
  readonly at: { readonly zone: string; readonly owner: string } | null;
  /** What the record holds, as far as is known. */
  readonly values: readonly string[];
  /** When it was last changed; null if the history that was read does not say. */
  readonly changed: { readonly at: string; readonly by: string } | null;
  /** How often it has changed since `Overview.since`. */
  readonly moves: number;
  /** What its updater says; null if no updater is known. */
  readonly state: {
    readonly ok: boolean;
    readonly paused?: true;
    readonly what: string;
    readonly because: string;
  } | null;
};

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
  /** If the values are the same: what else was changed, such as `comment` or `TTL 60 → 300`. */
  readonly others: readonly string[];
};

/** What somebody should look at, the most urgent first. */
export type Attention =
  | {
      readonly kind: "name-failing";
      readonly name: string;
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
