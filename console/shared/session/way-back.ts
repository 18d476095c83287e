import { createContext, useContext, useEffect } from "react";

export type WayBack = {
  /** Holds the browser's way back closed until what it gives is called. */
  readonly hold: (onBack: () => void) => () => void;
  readonly isHeld: () => boolean;
};

export const WayBackContext = createContext<WayBack>({ hold: () => () => undefined, isHeld: () => false });

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
  return {
    hold: (onBack) => {
      const own = { href: location.href, onBack };
      held = own;
      return () => {
        if (held === own) held = undefined;
      };
    },
    isHeld: () => held !== undefined,
  };
}

/** While something would be lost with it, the way back leads nowhere, and `onBack` hears of it. */
export function useWayBack(isClosed: boolean, onBack: () => void): void {
  const { hold } = useContext(WayBackContext);
  useEffect(() => (isClosed ? hold(onBack) : undefined), [isClosed, hold, onBack]);
}

/** While something would be lost with it, the browser asks before it loads the page anew or closes it. */
export function useStay(hasUnsaved: boolean): void {
  useEffect(() => {
    if (!hasUnsaved) return undefined;
    const ask = (event: Event) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [hasUnsaved]);
}
