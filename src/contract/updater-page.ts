/** What the page of the updating client asks its own process for. Times are ISO 8601. */

export type UpdaterState = {
  readonly started: string;
  readonly rounds: number;
  readonly lastRound: string | null;
  /** When it looks again by itself; a firewall that pushes wakes it sooner. */
  readonly nextRound: string | null;
  readonly sources: readonly {
    readonly source: string;
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
    /** What to do should the record hold something else than was written last. */
    readonly onDrift: string;
  }[];
};

/** The newest first. */
export type UpdaterDecision = {
  readonly at: string;
  readonly kind: "failing" | "over" | "done" | "waiting";
  readonly about: string;
  readonly what: string;
  readonly because?: string;
  readonly todo?: string;
  /** Of what waits: the end of that. */
  readonly until?: string;
};

/** By name and type; null when the record service could not say. */
export type Published = Readonly<Record<string, readonly string[] | null>>;

/** The config as it was understood; where a secret stands, only that there is one. */
export type ShownConfig = {
  readonly file: string;
  readonly stateFile: string;
  /** How a change comes to be known, in words. */
  readonly rhythm: string;
  readonly sources: readonly {
    readonly name: string;
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
  /** Who is told of failures, who waits for signs of life, and where this process answers. Paths may be secrets. */
  readonly others: readonly {
    readonly what: string;
    readonly where: string;
    readonly trust: string;
    readonly secret: string;
  }[];
};
