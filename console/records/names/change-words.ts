import type { ChangedPlace, LatestWrite } from "../../../src/contract/overview.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";

/** What happened to what, as in `home.example.org` `moved to 203.0.113.7`. */
export type ChangeWords = {
  readonly name: string;
  readonly did: string;
  /** Shown in monospace after it. */
  readonly values: readonly string[];
  readonly was: readonly string[];
};

/** One sentence for each changed set; the two addresses of a name share one. */
export function changeWords({ zone, sets }: Pick<LatestWrite, "zone" | "sets">): readonly ChangeWords[] {
  const said = sets.map((set) => wordsOf(set, zone));
  const joined: ChangeWords[] = [];
  for (const words of said) {
    const before = joined.at(-1);
    if (before?.name === words.name && before.did === words.did && words.did === "moved to")
      joined[joined.length - 1] = {
        ...before,
        values: [...before.values, ...words.values],
        was: [...before.was, ...words.was],
      };
    else joined.push(words);
  }
  return joined;
}

function wordsOf({ kind, owner, type, before, after, others }: ChangedPlace, zone: string): ChangeWords {
  const name = nameToUnicode(owner === null ? zone : absoluteName(owner, zone));
  const plain = { name, values: [], was: [] };
  if (owner === null) return { ...plain, did: others.join(", ") || "settings changed" };
  // The SOA set is created and deleted with its zone.
  if (type === "SOA")
    return { ...plain, did: kind === "replace" ? "SOA changed" : `zone ${kind === "create" ? "created" : "deleted"}` };
  const isAddress = type === "A" || type === "AAAA";
  const what = isAddress ? "" : `${type} `;
  if (kind === "create") return { ...plain, did: `${what}added`, values: after };
  if (kind === "delete") return { ...plain, did: `${what || `${type} `}deleted`, was: before };
  if (others.length > 0)
    return { ...plain, did: `${type} ${others.join(", ")}${/→/.test(others.join()) ? "" : " changed"}` };
  const isMove = isAddress && before.length === 1 && after.length === 1;
  if (isMove) return { name, did: "moved to", values: after, was: before };
  return { name, did: `${type} changed to`, values: after, was: before };
}
