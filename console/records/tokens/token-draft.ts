import { parseNetwork } from "../../../src/core/addresses/network.ts";
import type { Scope } from "../../../src/core/may.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { isRecordType } from "../../../src/core/rdata/table.ts";
import { type Fault, fail, faultInWords, ok, type Result } from "../../../src/core/result.ts";
import { endOfDay } from "../../shared/time/days.ts";
import { keptName } from "../sets/shown-name.ts";
import { typedOwner } from "../sets/typed-owner.ts";

/** The form of a new token. */
export type TokenDraft = {
  readonly name: string;
  readonly access: "read" | "write";
  readonly zones: readonly string[];
  readonly owner: string;
  readonly types: readonly string[];
  /** A number of days from now, `day` for the chosen date, or empty for never. */
  readonly ends: string;
  readonly day: string;
  readonly networks: string;
};

const empty: TokenDraft = {
  name: "",
  access: "write",
  zones: [],
  owner: "",
  types: [],
  ends: "",
  day: "",
  networks: "",
};

export const longestName = 100;

/** The zone and the name are those of a record, if the form was opened from its row. */
export function draftFor(zone: string | null, owner: string | null): TokenDraft {
  if (zone === null || owner === null) return empty;
  return {
    ...empty,
    name: nameToUnicode(absoluteName(owner, zone)).slice(0, longestName),
    zones: [zone],
    owner: nameToUnicode(owner),
  };
}

export type TextPart = "name" | "owner" | "day" | "networks";
export type TokenFaults = Readonly<Partial<Record<TextPart, string | undefined>>>;

/** What is wrong, at the field where it is. */
export function faultsOf(draft: TokenDraft, scope: Scope): TokenFaults {
  const owner = readOwner(draft);
  const strange = scope.networks?.find((text) => parseNetwork(text) === undefined);
  return {
    name: draft.name.trim() === "" ? "required, so that you recognise it in the list" : undefined,
    owner: owner.ok ? undefined : owner.faults.map(faultInWords).join(". "),
    day: draft.ends === "day" && scope.expires === undefined ? "choose today or a later day" : undefined,
    networks: strange === undefined ? undefined : `${strange} is not a network; use one such as 192.0.2.0/24`,
  };
}

/** The name may end with the zone's name only if exactly one zone is chosen. */
function readOwner({ owner, zones: [zone, ...others] }: TokenDraft): Result<string> {
  if (owner.trim() === "") return ok("");
  const only = others.length === 0 ? zone : undefined;
  const read = typedOwner(owner, only ?? "zone.invalid");
  return read.ok || only !== undefined || read.faults[0]?.code !== "out-of-zone" ? read : fail(wholeName);
}

const wholeName: Fault = {
  code: "out-of-zone",
  where: "owner",
  message: "a full name needs exactly one zone",
  todo: "choose one zone, or leave the zone's name out, as in home",
};

const dayLong = 86_400_000;

/** The end of the day in the reader's time zone; undefined for never, and for a day that is invalid or in the past. */
function endOf({ ends: end, day }: TokenDraft, now: number): number | undefined {
  if (end !== "day") return end === "" ? undefined : now + Number(end) * dayLong;
  const last = endOfDay(day);
  return last > now ? last : undefined;
}

/** What the token may do. */
export function scopeOf(draft: TokenDraft, now: number): Scope {
  const { access, zones, types, networks } = draft;
  const owner = readOwner(draft);
  const [name, known] = [owner.ok ? owner.value : keptName(draft.owner), types.filter(isRecordType)];
  const rule = { ...(name !== "" && { owner: name }), ...(known.length > 0 && { types: known }) };
  const from = networks.split(/[\s,]+/).filter((text) => text !== "");
  const expires = endOf(draft, now);
  return {
    access,
    ...(zones.length > 0 && { zones }),
    ...((name !== "" || known.length > 0) && { sets: [rule] }),
    ...(expires !== undefined && { expires }),
    ...(from.length > 0 && { networks: from }),
  };
}
