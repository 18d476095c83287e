import { createToken, hashSecret } from "../../access/secret.ts";
import type { Scope } from "../../core/may.ts";
import { apex, ownerOf } from "../../core/names/name.ts";
import { nameToUnicode } from "../../core/names/unicode.ts";
import type { Token } from "../../records/model.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { type CommandIo, noneToRevoke } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import type { NewOption } from "../io/options.ts";
import { refuseFaults } from "../io/print-faults.ts";
import { minute, printList } from "../io/print-table.ts";
import { placeOf, writeSecretOr } from "../io/write-secret.ts";
import { sameStore } from "../store/read-store-place.ts";
import { withServiceStore, withStore } from "../store/with-store.ts";
import { readTokenScope, scopeInWords, type TypedScope } from "./token-scope.ts";

export type TokenAdd = DatabaseOptions &
  NewOption &
  TypedScope & {
    readonly name: string;
    readonly account: string;
    readonly long?: boolean;
    readonly to?: string;
  };

export async function tokenAdd(options: TokenAdd, io: CommandIo): Promise<number> {
  const read = readTokenScope(options, Date.now());
  if (!read.ok) return refuseFaults(read.faults, io);
  const place = placeOf(options, io, tokenLine);
  if (place === "taken") return 2;
  const scope = read.value;
  const secret = createToken(options.long ? 64 : 32);
  const mistakes: string[] = [];
  const token = await withServiceStore(options, io, async (store) => {
    const now = Date.now();
    const account = await store.ensureAccount(options.account, now);
    const { name } = options;
    mistakes.push(...(await likelyMistakes(store, account.id, scope)));
    const made = await store.addToken({ account: account.id, name, hash: hashSecret(secret), scope, created: now });
    if (place !== undefined) await writeSecretOr(() => store.revokeToken(made.id, Date.now()), place, `${secret}\n`);
    return made;
  });
  io.err(`Token ${token.id} (${token.name}) for the account ${token.accountName}: ${scopeInWords(scope)}.\n`);
  const undo = `${io.program} token revoke ${await sameStore(options, io)} ${token.id}`;
  for (const mistake of mistakes) io.err(`${mistake}; if that is a mistake, run: ${undo}\n`);
  io.err(place === undefined ? "This is the only time it is shown:\n" : `Written to ${options.to}\n`);
  if (place === undefined) io.out(`${secret}\n`);
  return 0;
}

/**
 * A file with an old token may be replaced: that is how a token is renewed. The old one stays valid until it is
 * revoked.
 */
const tokenLine = /^[A-Za-z0-9]{32,64}\n?$/;

/**
 * Warns about what is allowed but rarely meant: a zone that does not exist yet, or an absolute name without its zone.
 */
async function likelyMistakes(store: RecordStore, account: number, scope: Scope): Promise<readonly string[]> {
  const mistakes: string[] = [];
  const missing: string[] = [];
  for (const zone of scope.zones ?? []) if (!(await store.zoneBy(account, { name: zone }))) missing.push(zone);
  if (missing.length > 0) mistakes.push(`The account has no zone ${missing.map(nameToUnicode).join(", ")} yet`);
  if (scope.zones !== undefined) return mistakes;
  for (const { owner = apex } of scope.sets ?? []) {
    const zone = await store.zoneHolding(owner);
    if (zone?.account !== account) continue;
    const inside = nameToUnicode(ownerOf(owner, zone.name) ?? owner);
    const [full, name] = [nameToUnicode(owner), nameToUnicode(zone.name)];
    mistakes.push(`Without --zone, ${full} is relative to each zone; for ${inside} in ${name}, add --zone ${name}`);
  }
  return mistakes;
}

export async function tokenList(
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  const tokens = await withStore(options, io, (store) => store.tokens());
  const none = `There are no tokens yet; create one with: ${io.program} token add ${await sameStore(options, io)}`;
  const heads = ["id", "name", "account", "may", "created", "last used", "uses", "state"];
  const list = { json: options.json, forPrograms: tokens.map(forPrograms), heads, rows: tokens.map(row), none };
  return printList(list, io);
}

export async function tokenRevoke(id: string, options: DatabaseOptions, io: CommandIo): Promise<number> {
  const revoked =
    /^\d{1,15}$/.test(id) && (await withStore(options, io, (store) => store.revokeToken(Number(id), Date.now())));
  if (!revoked) return noneToRevoke("token", id, `token list ${await sameStore(options, io)}`, io);
  io.out(`Revoked token ${id}.\n`);
  return 0;
}

const row = ({ id, name, accountName, scope, created, lastUsed, uses, revoked }: Token): readonly string[] => [
  String(id),
  name,
  accountName,
  scopeInWords(scope).replace(/^may /, ""),
  minute(created),
  lastUsed === undefined ? "never" : minute(lastUsed),
  String(uses),
  revoked !== undefined ? "revoked" : (scope.expires ?? Number.POSITIVE_INFINITY) <= Date.now() ? "expired" : "valid",
];

const forPrograms = ({ id, name, accountName, scope, created, lastUsed, uses, revoked }: Token) => ({
  id,
  name,
  account: accountName,
  scope,
  created: new Date(created).toISOString(),
  last_used: isoOrNull(lastUsed),
  uses,
  revoked: isoOrNull(revoked),
});

const isoOrNull = (instant: number | undefined): string | null =>
  instant === undefined ? null : new Date(instant).toISOString();
