import { hashSecret } from "../../../access/secret.ts";
import type { Instant } from "../../../core/instant.ts";
import { may } from "../../../core/may.ts";
import { type MaybeLater, whenKnown } from "../../../core/maybe-later.ts";
import { BoundedMap } from "../../../lib/limits/bounded-map.ts";
import type { Token } from "../../model.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import type { RecordStore } from "../../store/port.ts";

/** The client's address and connection, and the URL of the request. */
export type Caller = { readonly ip: string; readonly socket: { readonly destroyed?: boolean }; readonly url?: string };

/** The actor of a token that is known, not revoked, not expired, and allowed from this address. Counts one use. */
export function authenticate(
  store: RecordStore,
  secret: string,
  caller: Caller,
  now: Instant,
): MaybeLater<Actor | undefined> {
  return whenKnown(actorOfSecret(store, secret, caller, now), (actor) => {
    if (actor?.token !== undefined) store.noteUse(actor.token, now);
    return actor && withConfirm(actor, caller);
  });
}

/** Like `authenticate`, without counting a use: for a request or connection that is checked again. */
export function actorOfSecret(
  store: Pick<RecordStore, "tokenByHash">,
  secret: string,
  { ip: from, socket }: Caller,
  now: Instant,
): MaybeLater<Actor | undefined> {
  const cachedSecret = secretOfConnection(socket, secret);
  return whenKnown(store.tokenByHash(cachedSecret.hash), (token) => {
    if (token === undefined || token.revoked !== undefined) return undefined;
    if (may(token.scope, { kind: "list-zones", from, now }).kind === "no") return undefined;
    if (cachedSecret.token === token && cachedSecret.actor?.from === from) return cachedSecret.actor;
    cachedSecret.token = token;
    cachedSecret.actor = actorWith(token, from);
    return cachedSecret.actor;
  });
}

/** `?confirm=provider` does for one request what `confirm` in the scope does for all requests of a token. */
export function withConfirm(actor: Actor, { url, socket }: Pick<Caller, "url" | "socket">): Actor {
  if (actor.scope.confirm !== "provider" && !url?.includes("confirm=provider")) return actor;
  return { ...actor, scope: { ...actor.scope, confirm: "provider" }, connection: connectionOf(socket) };
}

/** Read when it is asked for. */
const connectionOf = (socket: { readonly destroyed?: boolean }) => ({
  get isClosed() {
    return socket.destroyed === true;
  },
});

const actorWith = ({ account, scope, id, name }: Token, from: string): Actor => ({
  account,
  token: id,
  scope,
  label: `token ${id} (${name})`,
  from,
});

/** A secret sent over an open connection: many requests with one token cost one hash and one actor. */
type ConnectionSecret = { readonly hash: string; token?: Token; actor?: Actor };

const secretsOfSockets = new WeakMap<object, BoundedMap<string, ConnectionSecret>>();
const mostSecrets = 16;

function secretOfConnection(socket: object, secret: string): ConnectionSecret {
  const secrets = secretsOfSockets.get(socket) ?? new BoundedMap<string, ConnectionSecret>(mostSecrets);
  const before = secrets.get(secret);
  if (before !== undefined) return before;
  const added: ConnectionSecret = { hash: hashSecret(secret) };
  secrets.set(secret, added);
  secretsOfSockets.set(socket, secrets);
  return added;
}
