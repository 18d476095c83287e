import { useSearchParams } from "wouter";

type Changes = Readonly<Record<string, string | null>>;

/** What the search part of the address says. The way back leads out of what was opened, and past what was only set. */
export function useSearchPart() {
  const [query, setQuery] = useSearchParams();
  return {
    query,
    set: (changes: Changes) => setQuery((old) => changed(old, changes), { replace: true }),
    open: (changes: Changes) => setQuery((old) => changed(old, changes)),
  };
}

/** With some of it changed; null takes a key away. */
export function changed(old: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(old);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  return next;
}
