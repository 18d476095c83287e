import { useEffect, useState } from "react";

export type SignInLink = { readonly secret: string; readonly putAway: () => void };

/**
 * The secret of a sign-in link that this page was opened with, or that was pasted over the address of one that is open:
 * browsers load nothing anew for that. It is taken out of the address bar at once, so that it is not copied or kept in the history.
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
