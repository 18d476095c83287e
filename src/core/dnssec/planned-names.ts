import { apex, parentOf } from "../names/name.ts";
import { typeCode } from "../rdata/table.ts";
import { dnssecTypes, occludingTypes } from "./codes.ts";
import { coveredBy, exists, type GeneratedSet, headOfSignature, type SignedName, typeNamed } from "./signed-name.ts";

/** A signed name while a write is planned. */
export type PlannedName = {
  readonly owner: string;
  /** As it is stored. */
  readonly stored: SignedName | undefined;
  types: readonly number[];
  children: number;
  chainKey: string | null;
};

/** The records that are generated for a name. */
export type Generated = {
  /** Without signatures; by owner and type. */
  readonly sets: Map<string, GeneratedSet>;
  /** By owner and covered type. */
  readonly signatures: Map<string, readonly string[]>;
};

/**
 * `delegated`: of its own sets only DS is signed here. `occluded`: it is below a delegation or a
 * DNAME.
 */
export type Authority = "signed" | "delegated" | "occluded";

export const generatedKey = (owner: string, type: number): string => `${owner} ${type}`;

export type PlannedNames = ReturnType<typeof createPlannedNames>;

/**
 * The names that a write concerns, as a tree. `fromScratch`: starts without what is stored, because every name will be
 * entered again.
 */
export function createPlannedNames(stored: (owner: string) => SignedName | undefined, fromScratch: boolean) {
  const plannedNames = new Map<string, PlannedName>();

  const getOrAdd = (owner: string): PlannedName => {
    const planned = plannedNames.get(owner) ?? plannedName(owner, stored(owner), fromScratch);
    plannedNames.set(owner, planned);
    return planned;
  };
  const countChild = (owner: string | undefined, by: 1 | -1): void => {
    if (owner === undefined) return;
    const planned = getOrAdd(owner);
    const existed = exists(planned);
    planned.children += by;
    if (exists(planned) !== existed) countChild(parentOf(owner), by);
  };

  return {
    at: getOrAdd,
    all: () => plannedNames.values(),
    owners: () => plannedNames.keys(),
    has: (owner: string): boolean => plannedNames.has(owner),
    size: (): number => plannedNames.size,

    /** Sets the types of a name. Returns whether the same names below it are occluded as before. */
    setTypes: (owner: string, types: readonly number[]): boolean => {
      const planned = getOrAdd(owner);
      const [existed, occluded] = [exists(planned), occludes(planned)];
      planned.types = types;
      if (exists(planned) !== existed) countChild(parentOf(owner), existed ? -1 : 1);
      return occluded === occludes(planned) || planned.children === 0;
    },

    authorityOf: (owner: string): Authority => {
      for (let above = parentOf(owner); above !== undefined; above = parentOf(above))
        if (occludes(getOrAdd(above))) return "occluded";
      return isDelegated(getOrAdd(owner)) ? "delegated" : "signed";
    },
  };
}

const isDelegated = ({ owner, types }: Pick<PlannedName, "owner" | "types">): boolean =>
  owner !== apex && types.includes(occludingTypes.ns);
const occludes = (planned: PlannedName): boolean =>
  isDelegated(planned) || planned.types.includes(occludingTypes.dname);

function plannedName(owner: string, stored: SignedName | undefined, fromScratch: boolean): PlannedName {
  if (stored === undefined || fromScratch) return { owner, stored, types: [], children: 0, chainKey: null };
  const { types, children, chainKey } = stored;
  return { owner, stored, types, children, chainKey };
}

/** What is stored for a name; nothing if it is undefined. */
export function generatedIn(stored: SignedName | undefined): Generated {
  const sets = new Map<string, GeneratedSet>();
  if (stored === undefined) return { sets, signatures: new Map() };
  for (const set of stored.generated) {
    const type = typeCode(set.type);
    if (type !== dnssecTypes.rrsig) sets.set(generatedKey(set.owner, type), set);
  }
  return { sets, signatures: new Map(signaturesIn(stored)) };
}

/** Signatures by owner and covered type. */
export function signaturesIn(name: SignedName): ReadonlyMap<string, readonly string[]> {
  const ownSignatures = signaturesOf.get(name);
  if (ownSignatures !== undefined) return ownSignatures;
  const signatures = new Map<string, string[]>();
  for (const set of name.generated) {
    if (set.type !== rrsig) continue;
    for (const text of set.values) {
      const key = generatedKey(set.owner, coveredBy(text));
      const others = signatures.get(key);
      if (others === undefined) signatures.set(key, [text]);
      else others.push(text);
    }
  }
  signaturesOf.set(name, signatures);
  return signatures;
}

const signaturesOf = new WeakMap<SignedName, ReadonlyMap<string, readonly string[]>>();

const rrsig = typeNamed(dnssecTypes.rrsig);

/** Undefined if nothing is left of the name. */
export function signedName(planned: PlannedName, generated: Generated): SignedName | undefined {
  if (!exists(planned)) return undefined;
  const { owner, chainKey, children, types } = planned;
  const signatures = Map.groupBy(generated.signatures, ([key]) => key.slice(0, key.lastIndexOf(" ")));
  const expiries: number[] = [];
  const signed = [...signatures].map(([of, each]): GeneratedSet => {
    const values = each.flatMap(([, texts]) => texts);
    const heads = values.map(headOfSignature);
    expiries.push(...heads.map((head) => head.expires));
    return { owner: of, type: rrsig, ttl: Math.min(...heads.map((head) => head.ttl)), values };
  });
  return {
    owner,
    chainKey,
    children,
    types,
    generated: [...generated.sets.values(), ...signed],
    expires: expiries.length === 0 ? null : Math.min(...expiries),
  };
}
