/** What the page of the updater requests from its process. Times are ISO 8601. */

export type UpdaterState = {
  readonly started: string;
  readonly rounds: number;
  readonly lastRound: string | null;
  /** The next scheduled check; a source that pushes changes triggers one sooner. */
  readonly nextRound: string | null;
  readonly sources: readonly {
    readonly source: string;
    /** `firewall` or `source`. */
    readonly called: string;
    readonly up: boolean;
    readonly how: "events" | "polling";
    readonly because?: string;
  }[];
  readonly names: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly wanted: string | null;
    readonly stored: string | null;
    readonly storedAt: string | null;
    readonly what: string;
    readonly because: string;
    readonly todo?: string;
    /** What to do if the record holds something other than what was written last. */
    readonly onDrift: string;
  }[];
};

/** Newest first. */
export type UpdaterDecision = {
  readonly at: string;
  readonly kind: "failing" | "over" | "done" | "waiting";
  readonly about: string;
  readonly what: string;
  readonly because?: string;
  readonly todo?: string;
  /** For a plan that waits: until when. */
  readonly until?: string;
};

/** By name and type; null if the record service could not be read. */
export type Published = Readonly<Record<string, readonly string[] | null>>;

/** The config as it was read; for a secret, only whether there is one. */
export type ShownConfig = {
  readonly file: string;
  readonly stateFile: string;
  /** How changes are noticed, in words. */
  readonly rhythm: string;
  readonly sources: readonly {
    readonly name: string;
    /** `firewall`, or `source` with its kind. */
    readonly what: string;
    readonly url: string;
    readonly trust: string;
    readonly key: string;
  }[];
  readonly targets: readonly {
    readonly name: string;
    readonly url: string;
    readonly api: string;
    readonly trust: string;
    readonly token: string;
  }[];
  readonly names: readonly {
    readonly name: string;
    readonly from: string;
    readonly to: string;
    readonly rules: string;
  }[];
  /** Who is notified of failures, who receives heartbeats, and where this process listens. Without paths, which may be secrets. */
  readonly others: readonly {
    readonly what: string;
    readonly where: string;
    readonly trust: string;
    readonly secret: string;
  }[];
};
