import { hashSecret } from "../../../access/secret.ts";
import type { Instant } from "../../../core/instant.ts";
import { may } from "../../../core/may.ts";
import type { Actor } from "../../queries/sight.ts";
import type { RecordStore } from "../../store/port.ts";

/** The client's address and connection. */
export type Caller = { readonly ip: string; readonly socket: object };

/** The actor of a token that is known, not revoked, not expired, and allowed from this address. Counts one use. */
export async function actorOf(
  store: RecordStore,
  secret: string,
  caller: Caller,
  now: Instant,
): Promise<Actor | undefined> {
  const actor = await actorStill(store, secret, caller, now);
  if (actor?.token !== undefined) store.noteUse(actor.token, now);
  return actor;
}

/** Like `actorOf`, for a connection that is already open. Does not count as a use. */
export async function actorStill(
  store: Pick<RecordStore, "tokenByHash">,
  secret: string,
  { ip: from, socket }: Caller,
  now: Instant,
): Promise<Actor | undefined> {
  const token = await store.tokenByHash(hashOver(socket, secret));
  if (token === undefined || token.revoked !== undefined) return undefined;
  const { account, scope, id, name } = token;
  if (may(scope, { kind: "list-zones", from, now }).kind === "no") return undefined;
  return { account, token: id, scope, label: `token ${id} (${name})`, from };
}

/** Secrets sent over an open connection, with their hashes, so that many requests with one token cost one hash. */
const shownOver = new WeakMap<object, Map<string, string>>();
const mostShown = 16;

function hashOver(socket: object, secret: string): string {
  const shown = shownOver.get(socket) ?? new Map<string, string>();
  const known = shown.get(secret);
  if (known !== undefined) return known;
  if (shown.size >= mostShown) shown.clear();
  const hash = hashSecret(secret);
  shownOver.set(socket, shown.set(secret, hash));
  return hash;
}
