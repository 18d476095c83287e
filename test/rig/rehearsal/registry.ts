import { isDeepStrictEqual } from "node:util";
import { dnssecTypes } from "../../../src/core/dnssec/codes.ts";
import { removeDs } from "../../../src/core/dnssec/records.ts";
import { textOfData } from "../../../src/core/dnssec/signed-name.ts";
import type { Instant } from "../../../src/core/instant.ts";
import { wholeAccount } from "../../../src/core/may.ts";
import { apex, enclosing, ownerOf } from "../../../src/core/names/name.ts";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import type { RecordType } from "../../../src/core/rdata/table.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import type { SetEdit } from "../../../src/records/commands/requests.ts";
import { createdBy, createZoneRule } from "../../../src/records/commands/zones/create-delete.ts";
import { plainSettings, type Zone } from "../../../src/records/model.ts";
import { newRecordId } from "../../../src/records/new-id.ts";
import { createRecordService } from "../../../src/records/service.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import type { Ask } from "./ask-all.ts";

/** How long the registry takes to act on CDS records, in milliseconds. */
const delay = 3_600_000;
/** The TTL of DS records in many top-level domains, in seconds. */
const dsTtl = 86_400;

/** The parent zone, with a delegation to the child. */
export async function createParentZone(
  store: RecordStore,
  account: number,
  child: Zone,
  nameservers: readonly string[],
  now: Instant,
): Promise<Zone> {
  const name = enclosing(child.name)[1] ?? "";
  const sets = [
    setOf(name, apex, "SOA", 3_600, ["ns hostmaster 1 7200 900 1209600 300"]),
    setOf(name, apex, "NS", 3_600, ["ns"]),
    setOf(name, ownerOf(child.name, name) ?? "", "NS", 3_600, nameservers),
  ];
  const zone = { account, id: `parent ${name}`, name, settings: plainSettings(3_600), serial: 1, created: now, sets };
  const made = await store.run(createdBy("rehearsal", zone), createZoneRule);
  if (typeof made === "string") throw new Error(`the parent zone ${name} could not be created: ${made}`);
  return made;
}

function setOf(zone: string, owner: string, type: RecordType, ttl: number, values: readonly string[]): RRset {
  const records = values.map((value) => {
    const read = parseRdata(type, value, zone);
    if (!read.ok) throw new Error(`${type} ${value}: ${read.faults[0]?.message}`);
    const rdata = read.value.text;
    return { id: newRecordId(), name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
  });
  return { owner, type, ttl, records };
}

/**
 * Acts on the CDS records of the child after a delay, as a registry does (RFC 7344, RFC 8078). `mistake`: how long it
 * first has a wrong digest of a new key, in milliseconds. Meanwhile it keeps the DS record of the old key, so that the
 * zone is not rejected.
 */
export function createRegistry(store: RecordStore, parent: Zone, child: string, ask: Ask, mistake = 0) {
  const owner = ownerOf(child, parent.name) ?? "";
  let has: readonly string[] = [];
  let request:
    | { readonly wanted: readonly string[]; readonly since: Instant; readonly wrong: readonly string[] }
    | undefined;
  const publish = async (values: readonly string[], now: Instant): Promise<void> => {
    if (isDeepStrictEqual(values, has)) return;
    const actor = { account: parent.account, label: "registry", scope: wholeAccount };
    const target = { zone: { number: parent.number }, name: owner, type: "DS" };
    const records = values.map((value) => ({ value, comment: "" }));
    const edit: SetEdit = values.length === 0 ? { kind: "delete" } : { kind: "put", draft: { records, ttl: dsTtl } };
    const service = createRecordService({ store, nameservers: ["ns.invalid"], now: () => now });
    const changed = await service.editSet(actor, target, edit);
    if (changed.kind !== "done") throw new Error(`the parent zone ${parent.name} could not be changed`);
    has = values;
  };
  return {
    /** The key tags of the DS records at the parent. */
    tags: (): readonly number[] => has.map((text) => Number(text.split(" ")[0])),
    /** Reads the CDS records of the child, and acts on them after the delay. */
    visit: async (now: Instant): Promise<void> => {
      const { answers } = await ask({ name: child, type: dnssecTypes.cds });
      const cds = answers.filter(({ type }) => type === dnssecTypes.cds);
      const isRemoval = cds.some(({ data }) => Buffer.from(data).equals(removeDs.cds));
      const wanted = isRemoval ? [] : cds.map(({ data }) => textOfData(dnssecTypes.ds, data)).sort();
      if (cds.length === 0 || isDeepStrictEqual(wanted, has)) {
        request = undefined;
        return;
      }
      if (request === undefined || !isDeepStrictEqual(request.wanted, wanted))
        request = {
          wanted,
          since: now,
          wrong: mistake > 0 && isSameAlgorithm(has, wanted) ? [...has, ...wanted.map(mistaken)] : [],
        };
      if (now < request.since + delay) return;
      const isMistaken = request.wrong.length > 0 && now < request.since + delay + mistake;
      await publish(isMistaken ? request.wrong : wanted, now);
    },
  };
}

/**
 * Resolvers may reject a zone if one of the algorithms at the parent has only a wrong DS record (RFC 6840 section
 * 5.11).
 */
const isSameAlgorithm = (has: readonly string[], wanted: readonly string[]): boolean =>
  new Set([...has, ...wanted].map((text) => text.split(" ")[1])).size === 1 && has.length > 0 && wanted.length > 0;

/** The same DS record with another digest. */
const mistaken = (text: string): string => text.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
