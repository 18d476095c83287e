import type { Instant } from "../../core/instant.ts";
import { isOfService, isOfZone, type ServiceFault } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome } from "../../providers/provider.ts";
import type { OpenRequest, PublishedContent, PublishedSet } from "../model.ts";
import { type DefaultTtls, isReadableContent, isSameContent, type Theirs } from "./set-state.ts";

/** Milliseconds in which a read may still show what the provider held before a write. */
export const staleFor = 15_000;
/** Milliseconds until a request whose outcome was lost can be carried out no more, and every read shows if it was. */
export const openFor = 60_000 + staleFor;

/** What was learnt about a set at its provider. */
export type SetEvent =
  /** It is about to be sent: stored before the request leaves, because its answer may be lost. */
  | { readonly kind: "sent"; readonly content: PublishedContent | null }
  /** A read after the write has shown it; the write began at that time. */
  | { readonly kind: "done"; readonly held: PublishedContent | null; readonly began: Instant }
  /** The request is over, and nothing was stored. */
  | { readonly kind: "not-stored" }
  /** Nobody knows what became of the request, which can be carried out until then. */
  | { readonly kind: "lost"; readonly content: PublishedContent | null; readonly until: Instant }
  /** The provider refuses this set, but may have stored all of it, or a part. */
  | {
      readonly kind: "refused";
      readonly content: PublishedContent | null;
      readonly until: Instant;
      readonly words: string;
    }
  /** The first copy of a request that was sent twice can be carried out until then. */
  | { readonly kind: "sent-twice"; readonly content: PublishedContent | null; readonly until: Instant }
  /** A read that began at that time. */
  | ({ readonly kind: "read"; readonly theirs: Theirs; readonly began: Instant; readonly now: Instant } & ReadContext)
  /** What the provider is known to hold may not be there any more. */
  | { readonly kind: "unsure"; readonly now: Instant }
  /** What somebody else wrote is what it holds: somebody has decided, or the drift rule. */
  | { readonly kind: "decided" };

export type ReadContext = {
  readonly ours: PublishedContent | null;
  /** The default TTLs before the read, and now. */
  readonly before: DefaultTtls;
  readonly ttls: DefaultTtls;
  /** The provider may have stored only a part of what was sent. */
  readonly inSteps?: boolean | undefined;
};

/**
 * What is known about a set after something was learnt: all transitions between the states of `set-state.ts`. A request
 * that was sent stays open until its outcome is known or, if that is lost, until a read that began after its end:
 *
 *   sent ──▶ under way ── done, not stored ──▶ (over)
 *                │ lost, refused                 ▲ read, begun after its end
 *                ▼              read             │
 *           to be read ────────────────────▶ in doubt
 */
export function nextRow(row: PublishedSet, event: SetEvent): PublishedSet {
  const after = transition(row, event);
  const wasProxied = after.held === null ? (row.wasProxied ?? row.held?.proxied) : undefined;
  return wasProxied === after.wasProxied ? after : { ...after, wasProxied };
}

function transition(row: PublishedSet, event: SetEvent): PublishedSet {
  const earlier = (row.sent ?? []).filter(({ until }) => until !== undefined);
  switch (event.kind) {
    case "sent":
      return { ...row, refused: undefined, sent: [...(row.sent ?? []), { content: event.content }] };
    case "done":
      return { ...row, held: event.held, refused: undefined, sent: listed(stillOpen(earlier, event.began)) };
    case "not-stored":
      return { ...row, sent: listed(earlier) };
    case "lost":
      return { ...row, sent: opened(row, event) };
    case "refused":
      return { ...row, sent: opened(row, event), refused: { content: event.content, words: event.words } };
    case "sent-twice":
      return { ...row, sent: opened(row, { ...event, isRead: true }) };
    case "read":
      return afterRead(row, event);
    case "unsure": {
      const isKnown = row.theirs === undefined && !row.sent?.some(({ isRead }) => !isRead);
      return isKnown ? { ...row, sent: opened(row, { content: row.held, until: event.now }) } : row;
    }
    case "decided":
      return { ...row, held: contentIn(row.theirs), theirs: undefined, refused: undefined };
    default:
      return event satisfies never;
  }
}

const contentIn = (theirs: Theirs | undefined): PublishedContent | null =>
  theirs !== undefined && isReadableContent(theirs) ? theirs : null;

const listed = (sent: readonly OpenRequest[]): PublishedSet["sent"] => (sent.length === 0 ? undefined : sent);

/** Requests with the same content are one, which is over when the last of them is. */
function opened(
  { sent = [] }: Pick<PublishedSet, "sent">,
  { content, until = 0, isRead }: OpenRequest,
): readonly OpenRequest[] {
  const same = JSON.stringify(content);
  const [alike, others] = [true, false].map((is) =>
    sent.filter((each) => (JSON.stringify(each.content) === same) === is),
  );
  const last = Math.max(until, ...(alike ?? []).map((each) => each.until ?? 0));
  return [...(others ?? []), { content, until: last, ...(isRead && { isRead }) }];
}

const stillOpen = (sent: readonly OpenRequest[], began: Instant): readonly OpenRequest[] =>
  sent.filter(({ until }) => until === undefined || until > began);

/** The provider holds what moor knew or sent, or the same as the set here, or something else. */
function afterRead(row: PublishedSet, event: Extract<SetEvent, { kind: "read" }>): PublishedSet {
  const { theirs, ours, before, ttls, began, now, inSteps } = event;
  const { held, refused, sent = [] } = row;
  const open = stillOpen(sent, began).map(
    ({ content, until = now + openFor }): OpenRequest => ({ content, until, isRead: true }),
  );
  const seenRow = { ...row, sent: listed(open) };
  if (!isReadableContent(theirs)) return { ...seenRow, theirs };
  const isTheirs = (content: PublishedContent | null) => isSameContent(content, theirs, ttls);
  // A default TTL that was changed at the provider is a change of all sets that use it.
  const isHeld = isTheirs(held) && isSameContent(held, theirs, before) && !ttlMoved(theirs, { before, ttls });
  const isOwn = sent.some(
    ({ content }) => isTheirs(content) || (inSteps && isPartOfWrite(held, content, theirs, ttls)),
  );
  if (!isHeld && !isOwn && !isTheirs(ours)) return { ...seenRow, theirs };
  const isStored = refused !== undefined && isTheirs(refused.content);
  return { ...seenRow, held: theirs, theirs: undefined, refused: isStored ? undefined : refused };
}

/**
 * Whether a provider that stores values and TTL one after the other has stored only some of them: the rest was lost or
 * refused.
 */
function isPartOfWrite(
  held: PublishedContent | null,
  own: PublishedContent | null,
  theirs: PublishedContent | null,
  { there }: DefaultTtls,
): boolean {
  if (theirs === null) return false;
  const both = [held, own].filter((content) => content !== null);
  const kept = held?.values.filter((value) => own?.values.includes(value)) ?? [];
  return (
    both.some(({ ttl }) => (ttl ?? there) === (theirs.ttl ?? there)) &&
    theirs.values.every((value) => both.some(({ values }) => values.includes(value))) &&
    kept.every((value) => theirs.values.includes(value))
  );
}

const ttlMoved = (
  theirs: PublishedContent | null,
  { before, ttls }: { readonly before: DefaultTtls; readonly ttls: DefaultTtls },
): boolean => theirs?.ttl === null && before.there !== ttls.there;

export type EndedRequest = {
  /** When the write began, and when it had ended. */
  readonly began: Instant;
  readonly now: Instant;
  /** It may have been sent twice: the first copy may be carried out later. */
  readonly isTwice: boolean;
  /** The read of that write has shown what was replaced a moment ago: it proves nothing. */
  readonly stale: ServiceFault | undefined;
};

type Ended = {
  readonly row: PublishedSet;
  /** Nothing more can be sent now, and this is to be tried again. */
  readonly fault: ServiceFault | undefined;
  readonly retryAfter: number;
};

/** What is known about a set after a request for it has ended. What a drift has shown is still to be noted. */
export function afterOutcome(
  { row, ours: content }: { readonly row: PublishedSet; readonly ours: PublishedContent | null },
  outcome: ChangeOutcome,
  { began, now, isTwice, stale }: EndedRequest,
): Ended {
  const ended = (event: SetEvent, fault?: ServiceFault, retryAfter = 0): Ended => {
    const twice = { kind: "sent-twice", content, until: now + openFor } as const;
    const after = nextRow(row, event);
    return { row: isTwice ? nextRow(after, twice) : after, fault, retryAfter };
  };
  switch (outcome.kind) {
    case "done": {
      const { ttl, proxied } = outcome.set ?? content ?? {};
      const held = content && { ttl: ttl ?? null, values: content.values, ...(proxied && { proxied }) };
      return stale && outcome.wasThere ? ended({ kind: "not-stored" }, stale) : ended({ kind: "done", held, began });
    }
    case "drifted":
      return ended({ kind: "not-stored" }, stale);
    case "waiting":
      return ended({ kind: "not-stored" }, outcome.fault, outcome.retryAfter);
    case "refused":
    case "unknown": {
      const { fault } = outcome;
      const until = outcome.kind === "refused" ? now : now + openFor;
      // What it holds is read, and not assumed: it may have stored all of it, or a part.
      if (isOfSet(outcome)) return ended({ kind: "refused", content, words: fault.because, until });
      return ended(outcome.kind === "refused" ? { kind: "not-stored" } : { kind: "lost", content, until }, fault);
    }
    default:
      return outcome satisfies never;
  }
}

/** The provider refuses this set or a part of it, not everything. */
const isOfSet = ({ kind, fault }: Extract<ChangeOutcome, { kind: "refused" | "unknown" }>): boolean =>
  (kind === "refused" || fault.kind === "refused") &&
  !isOfService(fault) &&
  fault.kind !== "unauthorised" &&
  !isOfZone(fault);
