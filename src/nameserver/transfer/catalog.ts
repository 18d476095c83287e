import type { Change } from "../../core/records/changes.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { compareSerials } from "../../core/records/serial.ts";
import type { ZoneContent } from "../../core/records/zone-view.ts";

/** The zone that lists all others, so that they appear on secondaries by themselves (RFC 9432). */

/** `id` is the member's own for ever: a zone that is made again under its old name is another member (section 5.6). */
export type CatalogMember = { readonly id: number; readonly zone: string };

export const defaultCatalog = "catalog.moor.invalid";

/** Secondaries hear of changes at once; the timers are for those that were away. */
const timers = "60 30 1209600 60";

export function catalogContent(name: string, serial: number, members: readonly CatalogMember[]): ZoneContent {
  const sets = [
    setOf("@", "SOA", `invalid. invalid. ${serial} ${timers}`),
    setOf("@", "NS", "invalid."),
    setOf("version", "TXT", '"2"'),
    ...members.map(memberSet),
  ];
  return { name, ttl: 0, serial, sets };
}

export type CatalogChange = { readonly kind: "came" | "went"; readonly member: CatalogMember };

export function toSetChange({ kind, member }: CatalogChange): Change {
  const set = memberSet(member);
  const { owner, type } = set;
  return kind === "came"
    ? { kind: "create", owner, type, before: null, after: set }
    : { kind: "delete", owner, type, before: set, after: null };
}

/** The catalog's changes since moor started, as many as are kept: further back it is sent whole. */
export function createCatalogLog(start: number, most = 10_000) {
  let known = start;
  let entries: { readonly serial: number; readonly change: Change }[] = [];
  return {
    add: (serial: number, changes: readonly Change[]): void => {
      for (const change of changes) entries.push({ serial, change });
      if (entries.length <= most) return;
      known = entries[entries.length - most]?.serial ?? serial;
      entries = entries.slice(-most).filter((entry) => entry.serial !== known);
    },
    between: (from: number, to: number): readonly Change[] | undefined => {
      if (compareSerials(from, known) === -1) return undefined;
      return entries
        .filter((entry) => compareSerials(entry.serial, from) === 1 && compareSerials(entry.serial, to) !== 1)
        .map((entry) => entry.change);
    },
  };
}

const memberSet = ({ id, zone }: CatalogMember): RRset => setOf(`z${id}.zones`, "PTR", `${zone}.`);

function setOf(owner: string, type: RRset["type"], rdata: string): RRset {
  const record = { id: "", name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
  return { owner, type, ttl: 0, records: [record] };
}
