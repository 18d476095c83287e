import { type Static, type TArray, type TObject, type TSchema, Type } from "typebox";
import { badAlgorithm, badKey, type bodies } from "../../contract/rrsets-bodies.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import { portOf } from "../../core/addresses/primary-address.ts";
import { isObject } from "../../core/is-object.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../core/result.ts";
import { badInput } from "../service/edit/bad-input.ts";
import type { SetDraft } from "../service/edit/set.ts";
import type { ValueDraft } from "../service/edit/values.ts";
import type { SetChange } from "../service/set-changes.ts";
import type { NewZoneDraft, ServerDraft } from "../service/zones/operations.ts";
import { readLabels } from "./labels.ts";

/**
 * Reads a body by its schema, reporting every fault. Unknown keys are ignored, and null means "not said" unless the schema allows it.
 * `draftOf` says what the body means; after a fault it gets empty texts and lists in place of what could not be read.
 */
export function readBody<Body extends TSchema, T>(
  body: unknown,
  schema: Body,
  draftOf: (input: Static<Body>, faults: Fault[]) => T,
): Result<T> {
  // A request that needs nothing may come without a body.
  const given = body ?? {};
  if (!isObject(given)) return fail(badInput("body", "must be an object"));
  const faults: Fault[] = [];
  const draft = draftOf(read(schema, given, "", faults) as Static<Body>, faults);
  return faults.length > 0 ? failAll(faults) : ok(draft);
}

type Limits = {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};

function read(schema: TSchema & Limits, value: unknown, where: string, faults: Fault[]): unknown {
  const limits: Limits = schema;
  const wrong = (message: string): undefined => void faults.push(badInput(where, message));
  if (Type.IsUnion(schema)) return read(alternativeFor(schema.anyOf, value), value, where, faults);
  if (Type.IsObject(schema)) return readKeys(schema, isObject(value) ? value : {}, where, faults);
  if (Type.IsArray(schema)) return readList(schema, value, where, faults);
  if (Type.IsRecord(schema)) {
    const labels = readLabels(value, where);
    if (!labels.ok) faults.push(...labels.faults);
    return labels.ok ? labels.value : undefined;
  }
  if (Type.IsString(schema) && typeof value !== "string") return wrong("must be a string") ?? "";
  if (Type.IsBoolean(schema) && typeof value !== "boolean") return wrong("must be a boolean");
  const problem = Type.IsInteger(schema) ? integerProblem(limits, value) : undefined;
  if (problem !== undefined) return wrong(problem);
  if (Type.IsRefine(schema)) {
    for (const { check, error } of schema["~refine"]) if (!check(value)) wrong(error(value));
  }
  return value;
}

/** The first whose literals the value has, or else the last. */
function alternativeFor(alternatives: readonly TSchema[], value: unknown): TSchema {
  const fits = (schema: TSchema): boolean =>
    !Type.IsNull(schema) &&
    (!Type.IsObject(schema) ||
      Object.entries(schema.properties).every(
        ([key, property]) => !Type.IsLiteral(property) || (isObject(value) && value[key] === property.const),
      ));
  return alternatives.find(fits) ?? alternatives.at(-1) ?? Type.Unknown();
}

function readKeys({ properties }: TObject, keys: Readonly<Record<string, unknown>>, where: string, faults: Fault[]) {
  const entries = Object.entries(properties).flatMap(([key, property]) => {
    const value = keys[key];
    const place = where === "" ? key : `${where}.${key}`;
    if (value !== undefined && value !== null) return [[key, read(property, value, place, faults)]];
    if (value === null && Type.IsUnion(property) && property.anyOf.some(Type.IsNull)) return [[key, null]];
    if (Type.IsOptional(property)) return [];
    faults.push(badInput(place, "is missing"));
    return [[key, Type.IsArray(property) ? [] : Type.IsString(property) ? "" : undefined]];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function readList(schema: TArray & Limits, value: unknown, where: string, faults: Fault[]): readonly unknown[] {
  const { items, minItems = 0, maxItems = 0 } = schema;
  if (!Array.isArray(value)) {
    faults.push(badInput(where, "must be an array"));
    return [];
  }
  if (value.length < minItems) faults.push(badInput(where, "must not be empty"));
  if (value.length > maxItems) faults.push(badInput(where, `has more than ${maxItems} entries`));
  return value.slice(0, maxItems).map((each, i) => read(items, each, `${where}[${i}]`, faults));
}

function integerProblem({ minimum, maximum }: Limits, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) return "must be an integer";
  if (minimum !== undefined && value < minimum) return "is too small";
  return maximum !== undefined && value > maximum ? "is too large" : undefined;
}

type Bodies = { readonly [Name in keyof typeof bodies]: Static<(typeof bodies)[Name]> };

export function zoneDraft(input: Bodies["zone"], faults: Fault[]): NewZoneDraft {
  const { name, ttl, labels = {}, protection } = input;
  const common = { name, ttl, labels, locked: isObject(protection) && protection.delete === true };
  if (input.mode === "secondary") {
    const primaries = serversFrom(input.primary_nameservers ?? [], faults);
    return { ...common, mode: "secondary", primaries, content: { kind: "sets", sets: [] } };
  }
  const { zonefile = "", rrsets = [] } = input;
  if (zonefile !== "" && rrsets.length > 0) faults.push(badInput("zonefile", "cannot be given together with rrsets"));
  const content =
    zonefile === ""
      ? ({ kind: "sets", sets: rrsets.map(setDraft) } as const)
      : ({ kind: "file", text: zonefile } as const);
  return { ...common, mode: "primary", primaries: [], content };
}

export function setDraft(input: Bodies["set"]): SetDraft & { readonly name: string; readonly type: string } {
  const { name, type, protection } = input;
  return { name, type, ...draftOf(input), locked: isObject(protection) && protection.change === true };
}

export const draftOf = ({ records, ttl, labels }: Bodies["recordsAndTtl"]): SetDraft => ({
  records: valuesFrom(records),
  ...(ttl !== undefined && { ttl }),
  ...(labels && { labels }),
});

export const valuesFrom = (records: Bodies["records"]["records"]): readonly ValueDraft[] =>
  records.map(({ value, comment }) => ({ value, comment: comment ?? "" }));

export const changesDraft = ({ changes, expected_serial }: Bodies["changes"]) => ({
  expectedSerial: expected_serial ?? undefined,
  changes: changes.map((change): SetChange => {
    if ("delete" in change) return { name: change.name, type: change.type, to: "gone" };
    const { name, type, ...to } = setDraft(change);
    return { name, type, to };
  }),
});

/** A TSIG key needs its algorithm, and the other way round. */
export const serversFrom = (
  servers: Bodies["primaries"]["primary_nameservers"],
  faults: Fault[],
): readonly ServerDraft[] =>
  servers.map(({ address, port = 53, tsig_algorithm: algorithm, tsig_key: key }, i): ServerDraft => {
    const where = `primary_nameservers[${i}]`;
    if (algorithm === undefined && key !== undefined) faults.push(badInput(`${where}.tsig_algorithm`, badAlgorithm));
    if (algorithm !== undefined && key === undefined) faults.push(badInput(`${where}.tsig_key`, badKey));
    const tsig = algorithm !== undefined && key !== undefined && { tsig: { algorithm, key } };
    return { address: parseAddress(address)?.text ?? address, port: portOf(port) ?? 0, ...tsig };
  });
