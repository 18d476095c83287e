import { createHash } from "node:crypto";
import { type PublicationRules, publishedFaults } from "../../core/provider-rules.ts";
import { type RRset, type SetKey, setKey } from "../../core/records/rrset.ts";
import { type Fault, faultInWords } from "../../core/result.ts";
import type { ProviderContent, ProviderSet } from "../../providers/provider.ts";
import type { PublishedContent, Zone } from "../model.ts";
import { contentOf, type DefaultTtls, isProviders, isSameContent } from "./set-state.ts";

/** How a zone here and at its provider differ. */
export type Preview = {
  readonly service: string;
  /** Changes with what the provider holds, and with the zone here. */
  readonly digest: string;
  readonly equal: number;
  readonly onlyHere: readonly PreviewSet[];
  readonly onlyThere: readonly PreviewSet[];
  readonly different: readonly (SetKey & { readonly here: PublishedContent; readonly there: PublishedContent })[];
  /** What stays at the provider as it is, because moor cannot represent it. */
  readonly left: readonly { readonly name: string; readonly type: string; readonly because: string }[];
  /** What the provider would not take from here. */
  readonly notAllowed: readonly (SetKey & { readonly because: string })[];
  /** Why publishing would be refused, by what it would be filled with; empty if it would not. */
  readonly refused: Readonly<Record<Fill, readonly Fault[]>>;
};

/** `theirs`: the zone here becomes equal to the provider's; `ours`: the other way. */
export type Fill = "theirs" | "ours";

type PreviewSet = SetKey & PublishedContent;

/** What is published at the provider, without what is its own. */
export const ownSets = (content: ProviderContent): readonly ProviderSet[] =>
  content.sets.filter((set) => !isProviders(set));

export function previewOf(
  zone: Zone,
  sets: readonly RRset[],
  content: ProviderContent,
  { service, rules, ttls }: { readonly service: string; readonly rules: PublicationRules; readonly ttls: DefaultTtls },
): Omit<Preview, "refused"> {
  const own = sets.filter((set) => !isProviders(set)).toSorted(byKey);
  const here = new Map(own.map((set) => [setKey(set.owner, set.type), set]));
  const there = new Map(
    ownSets(content)
      .toSorted(byKey)
      .map((set) => [setKey(set.owner, set.type), served(set, ttls)]),
  );
  const ours = (set: RRset) => contentOf(set, ttls);
  const both = [...here].flatMap(([key, set]) => {
    const [mine, theirs] = [ours(set), there.get(key)];
    return mine && theirs ? [{ owner: set.owner, type: set.type, here: mine, there: contentIn(theirs) }] : [];
  });
  const different = both.filter((each) => !isSameContent(each.here, each.there, ttls));
  return {
    service,
    digest: digestOf(zone, content, ttls),
    equal: both.length - different.length,
    onlyHere: [...here].flatMap(([key, set]) => {
      const mine = ours(set);
      return mine && !there.has(key) ? [{ owner: set.owner, type: set.type, ...mine }] : [];
    }),
    onlyThere: [...there].filter(([key]) => !here.has(key)).map(([, set]) => set),
    different,
    left: leftIn(content),
    notAllowed: [...here.values()].flatMap((set) =>
      publishedFaults(zone.settings.ttl, { service, rules }, [set]).map((fault) => ({
        owner: set.owner,
        type: set.type,
        because: faultInWords(fault),
      })),
    ),
  };
}

const byKey = (a: SetKey, b: SetKey): number => (setKey(a.owner, a.type) < setKey(b.owner, b.type) ? -1 : 1);

/** With the TTL that is served. */
const served = ({ owner, type, ttl, values }: ProviderSet, { there }: DefaultTtls): PreviewSet => ({
  owner,
  type,
  ttl: ttl ?? there ?? null,
  values,
});

const contentIn = ({ ttl, values }: PublishedContent): PublishedContent => ({ ttl, values });

function leftIn({ sets, unreadable }: ProviderContent): Preview["left"] {
  const made = sets.filter(({ owner, type }) => isProviders({ owner, type }) && type !== "NS" && type !== "SOA");
  const types = [...new Set(made.map(({ type }) => type))];
  return [
    ...unreadable.map(({ name, type, because }) => ({ name, type, because })),
    ...types.map((type) => ({ name: "@", type, because: "made by signing at the provider; it stays as it is" })),
  ];
}

/** The order in which a provider lists its sets does not matter. */
function digestOf({ name, serial }: Zone, content: ProviderContent, { there }: DefaultTtls): string {
  const texts = [
    JSON.stringify([name, serial]),
    ...ownSets(content).map(({ owner, type, ttl, values }) => JSON.stringify([owner, type, ttl ?? there, values])),
    ...content.unreadable.map(({ name, type, values }) => JSON.stringify([name, type, values.toSorted()])),
  ];
  return createHash("sha256").update(texts.toSorted().join("\n")).digest("base64url");
}
