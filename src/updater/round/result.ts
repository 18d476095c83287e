import type { Instant } from "../../core/instant.ts";
import type { SourceReading } from "../sources/source.ts";
import type { Confirmation } from "../targets/confirm-dns.ts";
import type { Held, WriteOutcome } from "../targets/target.ts";
import type { PlannedUpdate } from "./plan.ts";

/** What became of one planned update. */
export type UpdateResult = PlannedUpdate & {
  readonly outcome?: WriteOutcome | { readonly kind: "same" };
  /** It is at the record service, or waits for its turn there. */
  readonly underWay?: true;
  /** What the record held, where it was read before it was written. */
  readonly found?: Held;
  /** The record is right, but that could not be put on disk. */
  readonly unsaved?: string | undefined;
  /** Where the config asks for it: whether DNS returns the new address. Nothing waits for it. */
  readonly confirmation?: Promise<Confirmation>;
};

/** What is known after sources were read or record services have answered. */
export type Round = {
  /** What each source said last; without those that have not answered yet. */
  readonly readings: ReadonlyMap<string, SourceReading>;
  /** Every name and family as it stands. */
  readonly results: readonly UpdateResult[];
  /** What has ended since the round before, then those that were planned since. */
  readonly changed: readonly UpdateResult[];
  /** When something that failed, waits or is checked regularly is due; undefined when nothing is. */
  readonly due: Instant | undefined;
  /** Sources that do not push at present: they have to be asked. */
  readonly polled: readonly string[];
  /** Targets that sent a Retry-After of a minute or more from now, and until when. */
  readonly holds: ReadonlyMap<string, Instant>;
  /** Set when an address that was written earlier is still not on disk. */
  readonly unsaved?: string;
  /** Another process has written the state file since the round before. */
  readonly stateShared?: boolean;
};
