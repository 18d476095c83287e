import { useSearchParams } from "wouter";

type Changes = Readonly<Record<string, string | null>>;

/** The query of the page's URL. The back button closes what was opened with `open`, and skips what was only `set`. */
export function useSearchPart() {
  const [query, setQuery] = useSearchParams();
  return {
    query,
    set: (changes: Changes) => setQuery((old) => changed(old, changes), { replace: true }),
    open: (changes: Changes) => setQuery((old) => changed(old, changes)),
  };
}

/** A copy with these changes; null removes a key. */
export function changed(old: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(old);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  return next;
}
