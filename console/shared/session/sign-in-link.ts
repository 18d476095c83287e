import { useEffect, useState } from "react";

export type SignInLink = { readonly secret: string; readonly putAway: () => void };

/**
 * The secret of a sign-in link that this page was opened with, or that was pasted into the address bar of the open
 * page, for which browsers do not reload it. It is removed from the address bar immediately, so that nobody copies it
 * and the history does not keep it.
 */
export function useSignInLink(): SignInLink {
  const [secret, setSecret] = useState(secretInAddress);
  useEffect(() => {
    const take = () => {
      const found = secretInAddress();
      if (found === "") return;
      setSecret(found);
      history.replaceState(null, "", "/sign-in");
    };
    take();
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return { secret, putAway: () => setSecret("") };
}

const secretInAddress = (): string => (location.pathname === "/sign-in" ? location.hash.slice(1) : "");
