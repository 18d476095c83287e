import type { Change } from "../../core/records/changes.ts";
import type { ZoneContent } from "../../core/records/zone-view.ts";

/** Where the nameserver gets its zones from; it reads one when it is first asked for, and then only follows its changes. */
export type ZoneSource = {
  /**
   * The names of all zones, in any number of parts. Read once, so that names outside all zones cost nothing; without
   * it `closest` is asked about every new name.
   */
  readonly names?: () => AsyncIterable<readonly string[]>;
  /** The first of these names, longest first, that is a zone here. Asked for names that may be zones. */
  readonly closest: (names: readonly string[]) => string | undefined | Promise<string | undefined>;
  /** All of a zone as it stands; undefined when it has gone meanwhile. */
  readonly load: (name: string) => Promise<ZoneContent | undefined>;
  /** Tells of every change from now on, in order, until the function that is given back is called. */
  readonly follow: (listener: (event: ZoneEvent) => void) => () => void;
};

/** A change that `load` already includes may be reported again; one that is neither included nor reported afterwards would be lost. */
export type ZoneEvent =
  /** One write, or a part of one. A zone comes and goes with its SOA set. */
  | { readonly kind: "changed"; readonly zone: string; readonly serial: number; readonly changes: readonly Change[] }
  /** A zone was created or deleted, or changed in a way that no change of sets shows, such as its default TTL. */
  | { readonly kind: "replaced"; readonly zone: string }
  /** Changes may have been missed: nothing known holds. */
  | { readonly kind: "lost" }
  /** Something was written and will be reported next: from now on no answer may be without it. */
  | { readonly kind: "coming"; readonly number: number }
  /** Everything up to this number has been reported. */
  | { readonly kind: "told"; readonly number: number };

/** The events that say something about zones. */
export type ZoneNews = Exclude<ZoneEvent, { kind: "coming" | "told" }>;

export const isNews = (event: ZoneEvent): event is ZoneNews => event.kind !== "coming" && event.kind !== "told";
