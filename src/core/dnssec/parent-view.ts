/** A DS record at the parent. `digest` is in hex, in lower case. */
export type Ds = {
  readonly tag: number;
  readonly algorithm: number;
  readonly digestType: number;
  readonly digest: string;
};

/** From the data of the record; undefined if it cannot be one. */
export function readDs(data: Uint8Array): Ds | undefined {
  const [high = 0, low = 0, algorithm = 0, digestType = 0, ...digest] = data;
  if (digest.length === 0) return undefined;
  const hex = digest.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { tag: (high << 8) | low, algorithm, digestType, digest: hex };
}

/**
 * What one server of the parent returned; `because`: why that is not known, with the name of the server. `ttl` is in
 * seconds.
 */
export type ServerView =
  | { readonly server: string; readonly ds: readonly Ds[]; readonly ttl: number }
  | { readonly because: string };

/**
 * One entry per server of the parent. None, or one without DS records of its own (`because`): what the parent has is
 * not known.
 */
export type ParentView = readonly ServerView[];

type Answered = Extract<ServerView, { readonly server: string }>;

/** The servers whose DS records are known. */
export const answered = (parent: ParentView): readonly Answered[] => parent.filter((each) => "server" in each);
const isComplete = (parent: ParentView): boolean => parent.length > 0 && answered(parent).length === parent.length;

/** Whether each server of the parent has answered, and its DS records fit. */
export const everyServer = (parent: ParentView, dsMatches: (ds: readonly Ds[]) => boolean): boolean =>
  isComplete(parent) && answered(parent).every(({ ds }) => dsMatches(ds));

/** Whether the DS records of at least one server are known, and do not fit. */
export const someServerNot = (parent: ParentView, dsMatches: (ds: readonly Ds[]) => boolean): boolean =>
  answered(parent).some(({ ds }) => !dsMatches(ds));

/** The highest TTL of the DS records, in seconds. */
export const highestDsTtl = (parent: ParentView): number =>
  answered(parent).reduce((most, { ds, ttl }) => (ds.length > 0 ? Math.max(most, ttl) : most), 0);

/** The digest types that can be compared: SHA-1, SHA-256 and SHA-384. */
export const knownDigests = [1, 2, 4] as const;
export type DigestType = (typeof knownDigests)[number];

const sha1 = 1;
const isKnown = ({ digestType }: Ds): boolean => knownDigests.some((each) => each === digestType);
const isNamed = (ds: Ds, { tag, algorithm }: Pick<Ds, "tag" | "algorithm">): boolean =>
  ds.tag === tag && ds.algorithm === algorithm;
const isOf = (ds: Ds, own: readonly Ds[]): boolean =>
  own.some((each) => isNamed(ds, each) && ds.digestType === each.digestType && ds.digest === each.digest);

/**
 * Whether the DS records lead every resolver to a key; `own` are all DS records that the key can have. A resolver may
 * use only the strongest digest type in the set (RFC 4509 section 3), so the key needs a record of each; SHA-1 counts
 * only if there is nothing stronger. A record that names the key, but has another digest, was entered wrongly. A digest
 * type that we do not know proves nothing.
 */
export function leadsTo(ds: readonly Ds[], own: readonly Ds[]): boolean {
  const knownDs = ds.filter(isKnown);
  const strong = knownDs.filter(({ digestType }) => digestType !== sha1);
  const types = new Set((strong.length > 0 ? strong : knownDs).map(({ digestType }) => digestType));
  const matching = knownDs.filter((each) => isOf(each, own));
  const isWrong = knownDs.some((each) => !isOf(each, own) && own.some((of) => isNamed(each, of)));
  return !isWrong && types.size > 0 && [...types].every((type) => matching.some((each) => each.digestType === type));
}

/** Whether a resolver could still use one of the DS records to trust this key. */
export const mayLeadTo = (ds: readonly Ds[], own: readonly Ds[]): boolean =>
  ds.some((each) => isOf(each, own) || (!isKnown(each) && own.some((of) => isNamed(each, of))));

/**
 * What is wrong at the parent. `text` says it for people, with the names of the servers.
 *
 * - `wrong-ds`: a server has DS records, but none leads to a key of the zone: resolvers reject the zone
 * - `no-ds`: a server has no DS record, although the zone was secure: resolvers do not validate the zone
 * - `wrong-digest`: a DS record names a key of the zone, but has another digest; others lead to a key
 * - `unverified`: a server did not answer, or what it has cannot be checked
 * - `differs`: some servers have what the stage waits for, others do not yet
 * - `other-algorithm`: beside a DS record that leads to a key, there is one of an algorithm that no key has
 */
export type ParentFault = { readonly kind: (typeof parentFaultKinds)[number]; readonly text: string };

/** The most urgent first. */
export const parentFaultKinds = [
  "wrong-ds",
  "no-ds",
  "wrong-digest",
  "unverified",
  "differs",
  "other-algorithm",
] as const;

/** What a zone expects of its parent. */
export type ParentExpectation = {
  /** For each published key, all DS records that it can have. */
  readonly keys: readonly (readonly Ds[])[];
  /** The parent should have a DS record in this stage. */
  readonly isSecure: boolean;
  /** What the stage waits for; undefined if it does not wait for the parent. */
  readonly dsMatches: ((ds: readonly Ds[]) => boolean) | undefined;
};

/** The most urgent fault. */
export function parentFault(
  parent: ParentView,
  { keys, isSecure, dsMatches }: ParentExpectation,
): ParentFault | undefined {
  const views = answered(parent);
  const having = (which: (ds: readonly Ds[]) => boolean, what: string): string | undefined => {
    const some = views.filter(({ ds }) => which(ds)).map(({ server }) => server);
    if (some.length === 0) return undefined;
    const who =
      some.length === parent.length ? "the parent has" : `${listOf(some)} ${some.length === 1 ? "has" : "have"}`;
    return `${who} ${what}`;
  };
  const own = keys.flat();
  const isMatched = (ds: readonly Ds[]) => keys.some((each) => leadsTo(ds, each));
  const faultsByKind = {
    "wrong-ds": having(
      (ds) => ds.some(isKnown) && !isMatched(ds),
      "DS records, but none that matches a key of the zone",
    ),
    "no-ds": isSecure ? having((ds) => ds.length === 0, "no DS record of the zone") : undefined,
    "wrong-digest": having(
      (ds) => ds.some((each) => isKnown(each) && !isOf(each, own) && own.some((of) => isNamed(each, of))),
      "a DS record with the tag of a key of the zone, but with another digest",
    ),
    unverified:
      unverifiedIn(parent) ??
      having((ds) => ds.length > 0 && !ds.some(isKnown), "DS records only with digest types that are not known here"),
    differs:
      dsMatches && views.some(({ ds }) => dsMatches(ds))
        ? having((ds) => !dsMatches(ds), "not made the change yet")
        : undefined,
    // RFC 4035 section 2.2 wants keys and signatures of every algorithm in the DS set.
    "other-algorithm": having(
      (ds) => isMatched(ds) && ds.some(({ algorithm }) => !own.some((of) => of.algorithm === algorithm)),
      "a DS record of an algorithm that no key of the zone has",
    ),
  } satisfies Record<ParentFault["kind"], string | undefined>;
  const kind = parentFaultKinds.find((each) => faultsByKind[each] !== undefined);
  return kind && { kind, text: faultsByKind[kind] ?? "" };
}

function unverifiedIn(parent: ParentView): string | undefined {
  if (parent.length === 0) return "the nameservers of the parent zone were not found";
  const reasons = parent.flatMap((each) => ("because" in each ? [each.because] : []));
  return reasons.length === 0 ? undefined : reasons.toSorted().join("; ");
}

const listOf = (names: readonly string[]): string => names.toSorted().join(", ");
