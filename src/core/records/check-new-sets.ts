import { parseAddress } from "../addresses/address.ts";
import { caaTags } from "../rdata/caa.ts";
import { addressForName } from "../rdata/field-name.ts";
import type { RecordType } from "../rdata/table.ts";
import type { Fault } from "../result.ts";
import { dname } from "./dname.ts";
import { setKey } from "./rrset.ts";
import { isTooLarge } from "./set-size.ts";

/** Of a set that is stored, or of one in a file. */
type SetData = {
  readonly owner: string;
  readonly type: RecordType;
  readonly records: readonly { readonly rdata: string }[];
};

/** What a set is refused for unless it was so before this was looked at. */
export const checkNewSets = (before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] => [
  ...checkSizes(before, wanted),
  ...checkWildcardServers(before, wanted),
  ...checkDnames(before, wanted),
  ...checkRecords(before, wanted),
];

function checkRecords(before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] {
  const found = wanted.flatMap(({ owner, type, records }) => {
    if (type !== "CAA" && !pointing.has(type)) return [];
    const key = setKey(owner, type);
    return records.flatMap(({ rdata }) => recordFaults(type, rdata, key).map((fault) => ({ key, rdata, fault })));
  });
  if (found.length === 0) return [];
  const had = new Set(
    before.flatMap(({ owner, type, records }) => records.map(({ rdata }) => `${setKey(owner, type)} ${rdata}`)),
  );
  return found.filter(({ key, rdata }) => !had.has(`${key} ${rdata}`)).map(({ fault }) => fault);
}

function recordFaults(type: RecordType, rdata: string, where: string): readonly Fault[] {
  if (type === "CAA") return checkTag(rdata.split(" ", 2)[1] ?? "", where);
  // A top-level domain is no number (RFC 3696 section 2): this is no name of a host.
  const target = rdata.slice(rdata.lastIndexOf(" ") + 1, -1);
  return parseAddress(target) === undefined ? [] : [addressForName(target, where)];
}

const pointing: ReadonlySet<RecordType> = new Set(["CNAME", "MX", "NS", "PTR", "SRV"]);

function checkTag(tag: string, where: string): readonly Fault[] {
  if (caaTags.includes(tag)) return [];
  return [
    {
      code: "caa-unknown-tag",
      where,
      message: `${tag} is no property of a CAA record, and certificate authorities would ignore it`,
      todo: `use one of ${caaTags.join(", ")}`,
    },
  ];
}

/** One that was too large may become smaller, or stay as it is. */
function checkSizes(before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] {
  return wanted.filter(isTooLarge).flatMap(({ owner, type, records }) => {
    const had = before.find((set) => set.owner === owner && set.type === type);
    if (had !== undefined && isTooLarge(had) && records.length <= had.records.length) return [];
    return {
      code: "set-too-large",
      where: setKey(owner, type),
      message: `the ${type} set at ${owner} would be too large for any DNS message`,
      todo: "spread its records over several names",
    };
  });
}

/** What it would mean is left undefined by RFC 4592 section 4.2, and BIND then takes nothing of the whole zone. */
function checkWildcardServers(before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] {
  const isOne = ({ owner, type }: SetData) => type === "NS" && /^\*(?:\.|$)/.test(owner);
  const isNew = ({ owner }: SetData) => !before.some((set) => set.type === "NS" && set.owner === owner);
  return wanted
    .filter((set) => isOne(set) && isNew(set))
    .map(({ owner, type }) => ({
      code: "ns-at-wildcard",
      where: setKey(owner, type),
      message: `an NS record at the wildcard name ${owner} has no meaning in DNS, and other nameservers refuse a zone with one`,
      todo: "name each part that has nameservers of its own",
    }));
}

/** RFC 6672 section 2.4. Where there were more, they may stay, and become fewer. */
function checkDnames(before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] {
  const had = (owner: string) => before.find((set) => set.owner === owner && set.type === dname)?.records.length ?? 0;
  return wanted
    .filter(({ owner, type, records }) => type === dname && records.length > Math.max(1, had(owner)))
    .map(({ owner, type }) => ({
      code: "dname-single",
      where: setKey(owner, type),
      message: `${owner} has more than one DNAME record`,
      todo: "the names below it move to one place: keep one record",
    }));
}
