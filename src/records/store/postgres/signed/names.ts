import { chainKeyOf } from "../../../../core/dnssec/chain.ts";
import type { StoredSignedNames } from "../../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../../core/dnssec/signed-name.ts";
import { apex, parentOf } from "../../../../core/names/name.ts";
import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";
import type { Zone } from "../../../model.ts";
import type { EncryptedKey, Signer } from "../../../signing/signer.ts";
import { type SignedNameRow, signedNameColumns, signedNameFromRow } from "../../rows.ts";

type Row = SignedNameRow & { readonly zone: number };
type Run = (statement: Statement) => Promise<Rows>;

/**
 * The signed names that a change of these owners concerns: the owners themselves, the names above them, and the
 * neighbours of all these in the chain.
 */
export async function readSignedNames(
  run: Run,
  zone: Zone,
  owners: ReadonlySet<string> | "all",
): Promise<readonly SignedName[]> {
  if (zone.signedNamesNumber === undefined) return [];
  if (owners === "all") return ((await run(ofZone(zone))).rows as Row[]).map(signedNameFromRow);
  const parts = [...withNamesAbove(owners)].map((owner) => ({ zone, owner }));
  const rows = await Promise.all([run(atOwners(parts)), run(neighboursOf(parts.map(chainKeyAt)))]);
  return rows.flatMap((each) => (each.rows as Row[]).map(signedNameFromRow));
}

/** What decides whether zones can be signed: their apexes, and the keys that the signer has not loaded yet. */
export async function readSignedApexes(run: Run, zones: readonly Zone[], signer: Signer | undefined) {
  const signed = zones.filter(({ signedNamesNumber }) => signedNamesNumber !== undefined);
  const locked = zones.filter(({ settings }) => signer?.notLoaded(settings.dnssec?.keys ?? []).length);
  const [names, keys] = await Promise.all([
    signed.length > 0 ? run(atOwners(signed.map((zone) => ({ zone, owner: apex })))) : undefined,
    locked.length > 0 ? run(encryptedKeys(locked.map(({ number }) => number))) : undefined,
  ]);
  const byNumber = new Map((names?.rows as Row[] | undefined)?.map((row) => [Number(row.zone), row]));
  const apexes = signed.flatMap((zone) => {
    const row = byNumber.get(namesOf(zone));
    return row ? [[zone.number, signedNameFromRow(row)] as const] : [];
  });
  return { apexes: new Map(apexes), keys: (keys?.rows ?? []) as EncryptedKey[] };
}

const namesOf = ({ signedNamesNumber }: Zone): number => signedNamesNumber ?? 0;

type NameInZone = { readonly zone: Zone; readonly owner: string };

/** A name may begin or cease to exist with a name below it, and with NSEC3 it is part of the chain then. */
function withNamesAbove(owners: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>();
  for (const owner of owners) for (let at: string | undefined = owner; at !== undefined; at = parentOf(at)) all.add(at);
  return all;
}

const chainKeyAt = ({ zone, owner }: NameInZone) => ({
  zone: namesOf(zone),
  link: chainKeyOf(owner, zone.name, zone.settings.dnssec?.denial ?? "nsec"),
});

const columns = `s.zone, ${signedNameColumns}`.replaceAll(", ", ", s.").replace("s.s.", "s.");

const ofZone = (zone: Zone): Statement => ({
  name: "signed names of zone",
  text: `SELECT ${columns} FROM signed_names AS s WHERE zone = $1`,
  values: [namesOf(zone)],
});

const atOwners = (wanted: readonly NameInZone[]): Statement => ({
  name: "signed names of owners",
  text:
    `SELECT DISTINCT ${columns} FROM unnest($1::bigint[], $2::text[]) AS n (zone, owner) ` +
    "JOIN signed_names AS s ON s.zone = n.zone AND s.owner = n.owner",
  values: [wanted.map(({ zone }) => namesOf(zone)), wanted.map(({ owner }) => owner)],
});

/** The chain is a circle, so the first and the last name are included. */
const neighboursOf = (wanted: readonly { readonly zone: number; readonly link: string }[]): Statement => {
  const one = (where: string, order: string) =>
    `(SELECT * FROM signed_names WHERE zone = n.zone AND ${where} ORDER BY link ${order} LIMIT 1)`;
  const each = [
    one("link < n.link", "DESC"),
    one("link > n.link", ""),
    one("link IS NOT NULL", ""),
    one("link IS NOT NULL", "DESC"),
  ];
  return {
    name: "signed names beside",
    text:
      `SELECT DISTINCT ${columns} FROM unnest($1::bigint[], $2::text[]) AS n (zone, link) ` +
      `CROSS JOIN LATERAL (${each.join(" UNION ALL ")}) AS s`,
    values: [wanted.map(({ zone }) => zone), wanted.map(({ link }) => link)],
  };
};

const encryptedKeys = (zones: readonly number[]): Statement => ({
  name: "encrypted keys",
  text: "SELECT id, sealed AS encrypted FROM signing_keys WHERE zone = ANY($1)",
  values: [zones],
});

/** Names that were read, as a plan sees them. */
export function viewOfNames(read: readonly SignedName[]): StoredSignedNames {
  const names = new Map(read.map((name) => [name.owner, name]));
  const inChain = [...names.values()].filter(({ chainKey }) => chainKey !== null).sort(byChainKey);
  return {
    at: (owner) => names.get(owner),
    before: (chainKey) => inChain.findLast((each) => (each.chainKey ?? "") < chainKey) ?? inChain.at(-1),
    after: (chainKey) => inChain.find((each) => (each.chainKey ?? "") > chainKey) ?? inChain[0],
  };
}

const byChainKey = (a: SignedName, b: SignedName): number => ((a.chainKey ?? "") < (b.chainKey ?? "") ? -1 : 1);
