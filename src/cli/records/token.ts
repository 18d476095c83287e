import { createToken, hashSecret } from "../../access/secret.ts";
import type { Scope } from "../../core/may.ts";
import { apex, ownerOf } from "../../core/names/name.ts";
import { nameToUnicode } from "../../core/names/unicode.ts";
import type { Token } from "../../records/model.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { type CommandIo, noneToRevoke } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { minute, printTable } from "../io/print-table.ts";
import { placeOf, writeSecretOr } from "../io/write-secret.ts";
import { sameStore } from "../store/read-store-place.ts";
import { withServiceStore, withStore } from "../store/with-store.ts";
import { readTokenScope, scopeInWords, type TypedScope } from "./token-scope.ts";

export type TokenAdd = DatabaseOptions &
  TypedScope & {
    readonly name: string;
    readonly account: string;
    readonly long?: boolean;
    readonly to?: string;
  };

export async function tokenAdd(options: TokenAdd, io: CommandIo): Promise<number> {
  const read = readTokenScope(options, Date.now());
  if (!read.ok) {
    printFaults(read.faults, io);
    return 2;
  }
  const place = placeOf(options, io, tokenLine);
  if (place === "taken") return 2;
  const scope = read.value;
  const secret = createToken(options.long ? 64 : 32);
  const slips: string[] = [];
  const token = await withServiceStore(options, io, async (store) => {
    const now = Date.now();
    const account = await store.ensureAccount(options.account, now);
    const { name } = options;
    slips.push(...(await likelySlips(store, account.id, scope)));
    const made = await store.addToken({ account: account.id, name, hash: hashSecret(secret), scope, created: now });
    if (place !== undefined) await writeSecretOr(() => store.revokeToken(made.id, Date.now()), place, `${secret}\n`);
    return made;
  });
  io.err(`Token ${token.id} (${token.name}) for the account ${token.accountName}: ${scopeInWords(scope)}.\n`);
  const undo = `${io.program} token revoke ${sameStore(options, io)} ${token.id}`;
  for (const slip of slips) io.err(`${slip}; if that is a slip, run: ${undo}\n`);
  io.err(place === undefined ? "This is the only time that it is shown:\n" : `Written to ${options.to}\n`);
  if (place === undefined) io.out(`${secret}\n`);
  return 0;
}

/** A token is renewed where it stands, and the old one revoked when the new one is in use. */
const tokenLine = /^[A-Za-z0-9]{32,64}\n?$/;

/** What may be meant, and seldom is: a zone that is still to come, or a full name below every zone. */
async function likelySlips(store: RecordStore, account: number, scope: Scope): Promise<readonly string[]> {
  const slips: string[] = [];
  const unmade: string[] = [];
  for (const zone of scope.zones ?? []) if (!(await store.zoneBy(account, { name: zone }))) unmade.push(zone);
  if (unmade.length > 0) slips.push(`The account has no zone ${unmade.map(nameToUnicode).join(", ")} yet`);
  if (scope.zones !== undefined) return slips;
  for (const { owner = apex } of scope.sets ?? []) {
    const zone = await store.zoneHolding(owner);
    if (zone?.account !== account) continue;
    const inside = nameToUnicode(ownerOf(owner, zone.name) ?? owner);
    const [full, name] = [nameToUnicode(owner), nameToUnicode(zone.name)];
    slips.push(`${full} stands for a name below each zone, not for ${inside} in ${name}, which takes --zone ${name}`);
  }
  return slips;
}

export async function tokenList(
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  const tokens = await withStore(options, io, (store) => store.tokens());
  if (options.json) io.out(`${JSON.stringify(tokens.map(forPrograms), null, 2)}\n`);
  else if (tokens.length === 0)
    io.out(`There are no tokens yet; make one with: ${io.program} token add ${sameStore(options, io)}\n`);
  else io.out(printTable(["id", "name", "account", "may", "made", "last used", "uses", "state"], tokens.map(row)));
  return 0;
}

export async function tokenRevoke(id: string, options: DatabaseOptions, io: CommandIo): Promise<number> {
  const revoked =
    /^\d{1,15}$/.test(id) && (await withStore(options, io, (store) => store.revokeToken(Number(id), Date.now())));
  if (!revoked) return noneToRevoke("token", id, `token list ${sameStore(options, io)}`, io);
  io.out(`Token ${id} is revoked.\n`);
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
  revoked !== undefined ? "revoked" : (scope.expires ?? Number.POSITIVE_INFINITY) <= Date.now() ? "expired" : "good",
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
