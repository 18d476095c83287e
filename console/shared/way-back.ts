import { createContext, useContext, useEffect } from "react";

/** Holds the browser's way back closed until what it gives is called. */
export type WayBack = (onBack: () => void) => () => void;

export const WayBackContext = createContext<WayBack>(() => () => undefined);

/**
 * Browsers only tell that they have gone back, so the address is put back before anybody else looks at it: this must be called
 * before anything listens to the address.
 */
export function watchWayBack(): WayBack {
  let held: { readonly href: string; readonly onBack: () => void } | undefined;
  window.addEventListener("popstate", (event) => {
    if (held === undefined) return;
    event.stopImmediatePropagation();
    history.pushState(null, "", held.href);
    held.onBack();
  });
  return (onBack) => {
    const own = { href: location.href, onBack };
    held = own;
    return () => {
      if (held === own) held = undefined;
    };
  };
}

/** While something would be lost with it, the way back leads nowhere, and `onBack` hears of it. */
export function useWayBack(isClosed: boolean, onBack: () => void): void {
  const hold = useContext(WayBackContext);
  useEffect(() => (isClosed ? hold(onBack) : undefined), [isClosed, hold, onBack]);
}
