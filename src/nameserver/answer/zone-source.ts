import type { ServedChange, ServedSet, ZoneContent } from "../../core/records/zone-view.ts";

/**
 * Where the nameserver gets its zones. It loads a zone at the first query for it, and from then on only applies its
 * changes.
 */
export type ZoneSource = {
  /**
   * The names of all zones, in any number of parts. They are read once, so that names outside all zones need no lookup;
   * without them, `closest` is called for every new name.
   */
  readonly names?: () => AsyncIterable<readonly string[]>;
  /** The first of these names, given longest first, that is a zone here. */
  readonly closest: (names: readonly string[]) => string | undefined | Promise<string | undefined>;
  /**
   * The whole zone; undefined when it has been deleted meanwhile. Rejects with `NoContent` if there is nothing to
   * answer from yet. With `begin`, the source may pass on the first sets
   * of a large zone as it reads them, and return only the others.
   */
  readonly load: (name: string, begin?: BeginZone) => Promise<ZoneContent<ServedSet> | undefined>;
  /** The zones to load before the first query, the most important first: a large one takes long to load. */
  readonly expected?: () => Promise<readonly ExpectedZone[]>;
  /** Called now and then for every zone that is asked for. */
  readonly noteUse?: (zone: string) => void;
  /** Reports every change from now on, in order, until the returned function is called. */
  readonly follow: (listener: (event: ZoneEvent) => void) => () => void;
};

export type ExpectedZone = { readonly name: string; readonly records: number; readonly wasAsked: boolean };

/** The zone is served here, but was never transferred from its primary servers, or has expired. */
export class NoContent extends Error {}

/** Returns the function that takes the sets. Called again, it drops those that were taken before. */
export type BeginZone = (zone: Pick<ZoneContent, "name" | "ttl">) => (sets: readonly ServedSet[]) => void;

/**
 * A change that `load` already includes may be reported again. Every change must be included or reported afterwards.
 */
export type ZoneEvent =
  /** One write, or a part of one. Creating or deleting the SOA set creates or deletes the zone. */
  | {
      readonly kind: "changed";
      readonly zone: string;
      readonly serial: number;
      readonly changes: readonly ServedChange[];
    }
  /** A zone was created or deleted, or changed in a way that its sets do not show, such as its default TTL. */
  | { readonly kind: "replaced"; readonly zone: string }
  /**
   * The same, and its last known state must not be answered from: it has expired, or its records come from elsewhere
   * now.
   */
  | { readonly kind: "withdrawn"; readonly zone: string }
  /**
   * What was written to the zone up to this number will be reported when it is signed: answers of this zone wait for
   * it. A source may tell it to new listeners.
   */
  | { readonly kind: "unsigned"; readonly zone: string; readonly through: number }
  /** Up to this number it has been reported, or nobody should wait any longer. */
  | { readonly kind: "signed"; readonly zone: string; readonly through: number }
  /** Changes may have been missed: everything known so far is invalid. */
  | { readonly kind: "lost" }
  /** The source does not answer at the moment: queries get the last known answers instead of waiting for it. */
  | { readonly kind: "late" }
  /** Something was written and will be reported next: from now on every answer must include it. */
  | { readonly kind: "written"; readonly announcement: number }
  /** Everything up to this number has been reported. */
  | { readonly kind: "reported"; readonly announcement: number };

/** The events about zones. */
export type ZoneNews = Exclude<ZoneEvent, { kind: "written" | "reported" }>;

export const isNews = (event: ZoneEvent): event is ZoneNews => event.kind !== "written" && event.kind !== "reported";
