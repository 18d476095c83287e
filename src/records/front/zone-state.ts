import type { Instant } from "../../core/instant.ts";

/**
 * What is known about the zone at the provider as a whole.
 *
 *                 another token, or not read since the last one
 *   current ──────────────────────────────────────────────────────▶ unread
 *      ▲                                                              │
 *      └──── read as a whole with its token, and nothing was stale ◀──┘
 *
 * In both states the zone may have to be read at a time, because a set is in doubt or somebody else stores its rows.
 */
export type RemoteZone = {
  /** `unread`: it may be the zone of another account. Nothing is sent, and no set is published. */
  readonly kind: "current" | "unread";
  /** The token that was used last, by the time at which it was stored; undefined before the first use. */
  readonly token: Instant | undefined;
  /** When the whole zone is to be read, whatever its interval is; infinite if nothing asks for that. */
  readonly readBy: Instant;
};

export type RemoteZoneEvent =
  /** It is about to be worked on with this token. */
  | { readonly kind: "opened"; readonly token: Instant }
  /** The store says that it was not read since its token was replaced. */
  | { readonly kind: "never-read" }
  /** A read at that time will show more; undefined if it would not. */
  | { readonly kind: "doubted"; readonly until: Instant | undefined }
  /** It was read as a whole, beginning at that time, with a token that may have been replaced meanwhile. */
  | { readonly kind: "read"; readonly began: Instant; readonly isStale: boolean; readonly isTokenInUse: boolean };

export const firstState: RemoteZone = { kind: "current", token: undefined, readBy: Number.POSITIVE_INFINITY };

export function nextZone(state: RemoteZone, event: RemoteZoneEvent): RemoteZone {
  switch (event.kind) {
    case "opened": {
      const isOther = state.token !== undefined && state.token !== event.token;
      return { ...state, kind: isOther ? "unread" : state.kind, token: event.token };
    }
    case "never-read":
      return { ...state, kind: "unread" };
    case "doubted":
      return { ...state, readBy: Math.min(state.readBy, event.until ?? Number.POSITIVE_INFINITY) };
    case "read": {
      const isUnread = !event.isTokenInUse || (state.kind === "unread" && event.isStale);
      // A read that is due later, because a request may still be carried out, stays due.
      const readBy = state.readBy <= event.began ? Number.POSITIVE_INFINITY : state.readBy;
      return { ...state, kind: isUnread ? "unread" : "current", readBy };
    }
    default:
      return event satisfies never;
  }
}
