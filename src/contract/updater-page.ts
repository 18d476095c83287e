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
  /** Record services that fail as a whole, with what to do. */
  readonly services: readonly {
    readonly service: string;
    readonly because: string;
    readonly todo: string;
    /** How many records wait for it. */
    readonly records: number;
    /** Whether a new token may help: it refused this one. */
    readonly isUnauthorised: boolean;
  }[];
  readonly names: readonly {
    readonly name: string;
    readonly ok: boolean;
    /** The record service that fails as a whole, if that is why this record is not up to date. */
    readonly service?: string;
    readonly wanted: string | null;
    readonly stored: string | null;
    readonly storedAt: string | null;
    readonly what: string;
    readonly because: string;
    readonly todo?: string | undefined;
    /** What to do if the record holds something other than what was written last. */
    readonly onDrift: string;
    /** Left alone on purpose. */
    readonly paused?: boolean;
  }[];
};

/** Newest first. */
export type UpdaterDecision = {
  readonly at: string;
  readonly kind: "failing" | "over" | "done" | "waiting";
  readonly about: string;
  readonly what: string;
  readonly because?: string | undefined;
  readonly todo?: string | undefined;
  /** For a plan that waits: until when. */
  readonly until?: string;
};

/** By name and type; null if the record service could not be read. */
export type Published = Readonly<Record<string, readonly string[] | null>>;

/** Where the token of a record service comes from: a file that the page may replace, or elsewhere, with what to do. */
export type TokenPlace = { readonly service: string } & (
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "elsewhere"; readonly todo: string }
);

/** The config as it was read; for a secret, only whether there is one. */
export type ShownConfig = {
  readonly file: string;
  readonly stateFile: string;
  /** How changes are noticed, in words. */
  readonly rhythm: string;
  readonly sources: readonly {
    readonly name: string;
    readonly kind: string;
    /** What people call its kind. */
    readonly called: string;
    readonly url: string;
    readonly trust: string;
    readonly key: string;
  }[];
  readonly targets: readonly {
    readonly name: string;
    readonly url: string;
    readonly api: string;
    /** What people call its API. */
    readonly called: string;
    readonly trust: string;
    readonly token: string;
  }[];
  readonly names: readonly {
    readonly name: string;
    readonly from: string;
    readonly to: string;
    readonly rules: string;
  }[];
  /**
   * Who is notified of failures, who receives heartbeats, and where this process listens. Without paths, which may be
   * secrets.
   */
  readonly others: readonly {
    readonly what: string;
    readonly where: string;
    readonly trust: string;
    readonly secret: string;
  }[];
};

/** The entries of `names:` in the config file, to change them on the page. */
export type EditableNames = {
  readonly file: string;
  /** Changes whenever the file changes; sent back with an edit, so that nobody's work is overwritten. */
  readonly version: string;
  /** Why the file cannot be changed here, and what to do. */
  readonly cannot?: string | undefined;
  readonly entries: readonly {
    /** `home.example.org` */
    readonly title: string;
    /** The titles of its records. */
    readonly records: readonly string[];
    readonly fields: NameFields;
    /** Settings that only the file can change, as they are written there. */
    readonly others: readonly string[];
  }[];
  readonly sources: readonly {
    readonly name: string;
    readonly called: string;
    /** It knows only one connection: its names need no interface. */
    readonly isOne: boolean;
    /** What it reported last, without what is down and the loopback interface. */
    readonly devices: readonly string[];
  }[];
  readonly targets: readonly {
    readonly name: string;
    readonly called: string;
    /** Whether it can create records. */
    readonly create: boolean;
    readonly ttl: boolean;
  }[];
};

/** An entry of `names:` as a form. Empty means that it is not set. */
export type NameFields = {
  readonly name: string;
  readonly zone: string;
  readonly ipv4: FamilyField;
  readonly ipv6: FamilyField;
  readonly source: string;
  readonly target: string;
  readonly ttl: string;
  readonly create: boolean;
  readonly paused: boolean;
};

/** `devices`: in order of preference, with commas between them. */
export type FamilyField = { readonly isOn: boolean; readonly devices: string };

export type NamesEdit = { readonly version: string } & (
  | { readonly kind: "add"; readonly fields: NameFields }
  | { readonly kind: "edit"; readonly index: number; readonly fields: NameFields }
  | { readonly kind: "pause"; readonly index: number; readonly paused: boolean }
  | { readonly kind: "remove"; readonly index: number }
);

/** What an edit would change in the file, and what is wrong with it. */
export type NamesPreview = { readonly diff: readonly DiffLine[]; readonly faults: readonly FieldFault[] };

/** `line`: in the new file, or in the old one if it is removed. */
export type DiffLine = {
  readonly kind: "same" | "added" | "removed";
  readonly line: number;
  readonly text: string;
};

/**
 * `field`: the setting of the entry; undefined if the fault is elsewhere. `line`: undefined if the fault is not in the
 * text of the file.
 */
export type FieldFault = {
  readonly field?: string | undefined;
  readonly line?: number;
  readonly message: string;
  readonly todo: string;
};
