import type { Instant } from "../../core/instant.ts";
import type { MaybeLater } from "../../core/maybe-later.ts";
import { BoundedMap } from "../../lib/limits/bounded-map.ts";
import type { Action } from "../model.ts";
import type { ActionQuery, Page, RecordStore } from "../store/port.ts";
import { type ObfuscatedIds, obfuscateIds, plainIds } from "./obfuscated-ids.ts";
import type { Actor } from "./permitted-view.ts";

/**
 * The actions of the account for zones that the actor may see, including deleted ones. An action does not say which
 * sets it concerned, so an actor who may see only some sets sees only their own actions.
 */
export function actionOperations({ store, now }: { readonly store: RecordStore; readonly now: () => Instant }) {
  const shownIds = new BoundedMap<number | undefined, ObfuscatedIds>(mostTokens);
  const keep = (token: number | undefined, secret: string): ObfuscatedIds => {
    const ids = obfuscateIds(secret, `token ${token}`);
    shownIds.set(token, ids);
    return ids;
  };
  return {
    /**
     * Positions and actions are numbered across all zones and accounts. A limited token gets obfuscated ones, which do
     * not tell how many there are.
     */
    shownIdsFor: ({ token, scope }: Actor): MaybeLater<ObfuscatedIds> =>
      scope.zones === undefined && scope.sets === undefined
        ? plainIds
        : (shownIds.get(token) ?? store.secret("positions").then((secret) => keep(token, secret))),

    actions: ({ account, label, scope }: Actor, query: Omit<ActionQuery, "now">): Promise<Page<Action>> =>
      store.actions(account, {
        ...query,
        now: now(),
        ...(scope.zones && { within: scope.zones }),
        ...(scope.sets && { actor: label }),
      }),
  };
}

/** Whose numbers are kept at hand. */
const mostTokens = 1_000;
