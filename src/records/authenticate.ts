import { hashSecret } from "../access/secret.ts";
import type { Instant } from "../core/instant.ts";
import { may } from "../core/may.ts";
import type { Actor } from "./actor.ts";
import type { RecordStore } from "./store.ts";

/** The actor behind a token that is known, not revoked, not expired, and used from where it may be. */
export async function actorOf(
  store: RecordStore,
  secret: string,
  from: string,
  now: Instant,
): Promise<Actor | undefined> {
  const token = await store.tokenByHash(hashSecret(secret));
  if (token === undefined || token.revoked !== undefined) return undefined;
  const { account, scope, id, name } = token;
  if (may(scope, { kind: "list-zones", from, now }).kind === "no") return undefined;
  store.noteUse(id, now);
  return { account, token: id, scope, label: `token ${id} (${name})`, from };
}
