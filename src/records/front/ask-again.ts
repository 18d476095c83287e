import { wholeAccount } from "../../core/may.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { Action, Zone } from "../model.ts";
import { readZone } from "../queries/read-zone.ts";
import type { ActionRequest, RecordStore, Rule } from "../store/port.ts";
import { actionIn, confirmer } from "./confirm.ts";
import { type PublishZone, publishZoneRule } from "./publish-rule.ts";
import { contentOf, isProviders, shownState, ttlsOf } from "./set-state.ts";
import { allRows } from "./theirs.ts";

/** Sets that one action waits for: they are stored in the settings of the zone. */
const mostAsked = 200;

/**
 * The same store. A write that changes nothing in a published zone repeats an earlier one, which the provider may have
 * refused, or not have yet: its action waits for the sets too, and is not better than that of the first.
 */
export function askingAgain(store: RecordStore): RecordStore {
  return {
    ...store,
    run: async (command, ruleOf, running) => {
      const result = await store.run(command, ruleOf, running);
      const action = actionIn(result);
      // Who waits for the provider has been told by `confirm.ts`.
      if (!action?.changedNothing || confirmer(command)) return result;
      return await ask(store, action, ruleOf(command), result);
    },
  };
}

async function ask<T>(store: RecordStore, { id, zone: number }: Action, rule: Rule, result: T): Promise<T> {
  if (rule.kind !== "action") return result;
  const { account, actor: label, now } = rule.request;
  const zone = await store.zoneBy(account, { number });
  if (!zone?.settings.published) return result;
  const askedFor = await unpublishedSets(store, zone, rule.request);
  if (askedFor.length === 0) return result;
  if (askedFor.length > mostAsked)
    throw new StoreBusy(`everything is stored, but over ${mostAsked} of these sets are not at the provider yet`, {
      retryAfter: 10,
    });
  const command: PublishZone = {
    kind: "publish-zone",
    actor: { account, label, scope: wholeAccount },
    at: { number },
    action: "publish_again",
    now,
    patch: { askedFor },
    take: [],
    takesAll: false,
    parts: 0,
  };
  const asked = await store.run(command, publishZoneRule, { id });
  if (typeof asked === "string" || asked.action === undefined) return result;
  return { ...result, action: asked.action, serial: asked.serial };
}

/** Those that the write was about. */
async function unpublishedSets(
  store: RecordStore,
  zone: Zone,
  { owners }: Pick<ActionRequest, "owners">,
): Promise<readonly SetKey[]> {
  const note = await store.publishedZone(zone.number);
  if (note === undefined) return [];
  const names = typeof owners === "function" ? owners(zone) : undefined;
  const sets = names ? await store.sets(zone, { owners: names }) : await readZone(store, zone);
  const read = names ? await store.publishedSetsAt(zone.number, names) : (await allRows(store, zone.number)).values();
  const here = new Map(sets.map((set) => [keyOf(set), set]));
  const rows = new Map([...read].map((row) => [keyOf(row), row]));
  const ttls = ttlsOf(zone, note.ttl);
  return [...new Map<string, SetKey>([...rows, ...here])]
    .filter(
      ([key, place]) =>
        !isProviders(place) && shownState(contentOf(here.get(key), ttls), rows.get(key), zone, note) !== "published",
    )
    .map(([, { owner, type }]) => ({ owner, type }));
}
