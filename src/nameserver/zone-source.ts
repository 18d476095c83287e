import type { Change } from "../core/changes.ts";
import type { ZoneContent } from "../core/zone-view.ts";

/** Where the nameserver gets its zones from; it reads one when it is first asked for, and then only follows its changes. */
export type ZoneSource = {
  /** The first of these names, longest first, that is a zone here. Asked for every name that is not known yet. */
  readonly closest: (names: readonly string[]) => string | undefined | Promise<string | undefined>;
  /** All of a zone as it stands; undefined when it has gone meanwhile. */
  readonly load: (name: string) => Promise<ZoneContent | undefined>;
  /** Tells of every change from now on, in order, until the function that is given back is called. */
  readonly follow: (listener: (event: ZoneEvent) => void) => () => void;
};

/** A change that `load` shows already may be told again; one that neither shows nor tells would be lost. */
export type ZoneEvent =
  /** One write, whole. A zone comes and goes with its SOA set. */
  | { readonly kind: "changed"; readonly zone: string; readonly serial: number; readonly changes: readonly Change[] }
  /** A zone came, went, or is another than before in a way that no change of sets tells, such as its default TTL. */
  | { readonly kind: "replaced"; readonly zone: string }
  /** Changes may have been missed: nothing known holds. */
  | { readonly kind: "lost" };
