import type { Action, ActionQuery, Page, RecordStore } from "../store/port.ts";
import type { Actor } from "./sight.ts";

/** The actions of the account, of zones that the actor may see; also of those that are gone. */
export function actionOperations({ store }: { readonly store: RecordStore }) {
  return {
    actions: (actor: Actor, query: ActionQuery): Promise<Page<Action>> => {
      const { zones: within } = actor.scope;
      return store.actions(actor.account, within === undefined ? query : { ...query, within });
    },
  };
}
