import { useEffect, useState } from "react";
import { navigate } from "wouter/use-browser-location";

/** What an identity provider has added to the address of the sign-in page; empty if the page was opened otherwise. */
export type ProviderReturn = { readonly query: string; readonly putAway: () => void };

/** Removed from the address bar immediately, so that nobody copies or reloads it. */
export function useProviderReturn(): ProviderReturn {
  const [query, setQuery] = useState(queryInAddress);
  useEffect(() => {
    if (queryInAddress() !== "") history.replaceState(null, "", "/sign-in");
  }, []);
  return { query, putAway: () => setQuery("") };
}

const queryInAddress = (): string => {
  const { pathname, search } = location;
  const isReturn = /[?&]state=/.test(search) && /[?&](?:code|error)=/.test(search);
  return pathname === "/sign-in" && isReturn ? search.slice(1) : "";
};

const key = "moor-sign-in-from";

/** Keeps the page that the user wanted to see, and leaves for the provider. */
export function leaveFor(url: string): void {
  sessionStorage.setItem(key, location.pathname + location.search);
  location.assign(url);
}

/** Shows that page again; the browser refuses to show one of another site under this address. */
export function comeBack(): void {
  const from = sessionStorage.getItem(key) ?? "/";
  sessionStorage.removeItem(key);
  navigate(/^\/(?![/\\])/.test(from) && !from.startsWith("/sign-in") ? from : "/", { replace: true });
}
