import { chainKeyOf } from "../../../../core/dnssec/chain.ts";
import type { NameChange, StoredSignedNames } from "../../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../../core/dnssec/signed-name.ts";
import { apex, parentOf } from "../../../../core/names/name.ts";
import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";
import type { Zone } from "../../../model.ts";
import type { EncryptedKey, Signer } from "../../../signing/signer.ts";
import { type SignedNameRow, signedNameColumns, signedNameFromRow } from "../../rows.ts";

type Owners = ReadonlyMap<number, "all" | ReadonlySet<string>>;
type Row = SignedNameRow & { readonly zone: number };
type Run = (statement: Statement) => Promise<Rows>;
type SignedNamesOf = {
  readonly names: ReadonlyMap<number, readonly SignedName[]>;
  readonly keys: readonly EncryptedKey[];
};

/**
 * Reads the signed names that writes to these owners may change: the owners themselves, the names above them, and the
 * neighbours of all these in the chain; and the keys that the signer has not loaded yet. If signatures `follow` the
 * write, only the apex, unless the whole zone is read.
 */
export async function readSignedNames(
  run: Run,
  zones: readonly Zone[],
  owners: Owners,
  signer: Signer | undefined,
  follow: (zone: Zone) => boolean = () => false,
): Promise<SignedNamesOf> {
  const signed = zones.filter(({ signedNamesNumber }) => signedNamesNumber !== undefined);
  if (signed.length === 0) return { names: new Map(), keys: [] };
  const whole = signed.filter(({ number }) => owners.get(number) === "all").map(namesOf);
  const parts = signed.flatMap((zone) => {
    const set = owners.get(zone.number);
    if (set === undefined || set === "all") return [];
    return [...(follow(zone) ? [apex] : withNamesAbove(set))].map((owner) => ({ zone, owner }));
  });
  const linkedParts = parts.filter(({ zone }) => !follow(zone));
  const locked = signed.filter(({ settings }) => signer?.notLoaded(settings.dnssec?.keys ?? []).length);
  const [all, named, linked, keys] = await Promise.all([
    whole.length > 0 ? run(ofZones(whole)) : undefined,
    parts.length > 0 ? run(atOwners(parts)) : undefined,
    linkedParts.length > 0 ? run(neighboursOf(linkedParts.map(chainKeyAt))) : undefined,
    locked.length > 0 ? run(encryptedKeys(locked.map(({ number }) => number))) : undefined,
  ]);
  const rows = [...(all?.rows ?? []), ...(named?.rows ?? []), ...(linked?.rows ?? [])] as Row[];
  const byNumber = Map.groupBy(rows, ({ zone }) => Number(zone));
  return {
    names: new Map(
      signed.map((zone) => [zone.number, byNumber.get(namesOf(zone))?.map(signedNameFromRow) ?? []] as const),
    ),
    keys: (keys?.rows ?? []) as EncryptedKey[],
  };
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

const ofZones = (zones: readonly number[]): Statement => ({
  name: "signed names of zones",
  text: `SELECT ${columns} FROM signed_names AS s WHERE zone = ANY($1)`,
  values: [zones],
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

/** The signed names of one zone as the writes of a batch see and change them. */
export function createBatchNames(loaded: readonly SignedName[]) {
  const names = new Map(loaded.map((name) => [name.owner, name]));
  const touched = new Set<string>();
  let inChain: readonly SignedName[] | undefined;
  const inOrder = () => {
    inChain ??= [...names.values()].filter(({ chainKey }) => chainKey !== null).sort(byChainKey);
    return inChain;
  };
  const view: StoredSignedNames = {
    at: (owner) => names.get(owner),
    before: (chainKey) => inOrder().findLast((each) => (each.chainKey ?? "") < chainKey) ?? inOrder().at(-1),
    after: (chainKey) => inOrder().find((each) => (each.chainKey ?? "") > chainKey) ?? inOrder()[0],
  };
  return {
    view,
    every: () => [...names.values()],
    write: (changes: readonly NameChange[]): void => {
      inChain = undefined;
      for (const { before, after } of changes) {
        const owner = after?.owner ?? before?.owner ?? "";
        touched.add(owner);
        if (after === undefined) names.delete(owner);
        else names.set(owner, after);
      }
    },
    outcome: () => ({
      names: [...touched].flatMap((owner) => names.get(owner) ?? []),
      gone: [...touched].filter((owner) => !names.has(owner)),
    }),
  };
}

const byChainKey = (a: SignedName, b: SignedName): number => ((a.chainKey ?? "") < (b.chainKey ?? "") ? -1 : 1);
