import type { Instant } from "../../core/instant.ts";
import type { CurrentContent } from "../../providers/provider-calls.ts";
import type { SourceReading } from "../sources/source.ts";
import type { Confirmation } from "../targets/confirm-dns.ts";
import type { WriteOutcome } from "../targets/target.ts";
import type { PlannedUpdate } from "./plan.ts";

/** The result of one planned update. */
export type UpdateResult = PlannedUpdate & {
  readonly outcome?: WriteOutcome | { readonly kind: "same" };
  /** It is being written, or waits in the queue of its service. */
  readonly underWay?: true;
  /** What the record held, if it was read before the write. */
  readonly contentBefore?: CurrentContent;
  /** The id of the change in the state file, which keeps it until it was reported. */
  readonly event?: string | undefined;
  /** The record is correct, but the state file could not be written: the error code. */
  readonly unsaved?: string | undefined;
  /** With `confirm:`, whether DNS returns the new address. Nothing waits for it. */
  readonly confirmation?: Promise<Confirmation>;
};

/** What the record held counts, or else what moor wrote last. */
export const oldAddressOf = ({ contentBefore, stored }: UpdateResult): string | undefined =>
  contentBefore?.values[0] ?? stored;

/** What is known after sources were read or record services answered. */
export type Round = {
  /** The latest reading of each source, without those that have not answered yet. */
  readonly readings: ReadonlyMap<string, SourceReading>;
  /** The current state of every name and family. */
  readonly results: readonly UpdateResult[];
  /** What has ended since the last round, followed by what was planned since. */
  readonly changed: readonly UpdateResult[];
  /** When the next retry, wait or regular check is due; undefined if there is none. */
  readonly due: Instant | undefined;
  /** Sources that do not push at present and have to be polled. */
  readonly polled: readonly string[];
  /** Targets that sent a Retry-After of a minute or more from now, and until when. */
  readonly rateLimitedUntil: ReadonlyMap<string, Instant>;
  /** Set while a written address is not in the state file yet: the error code. */
  readonly unsaved?: string;
  /** Another process has written the state file since the last round. */
  readonly stateShared?: boolean;
};
