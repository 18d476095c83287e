import { createContext, useContext, useEffect } from "react";

export type WayBack = {
  /** Blocks the browser's back button until the returned function is called. */
  readonly hold: (onBack: () => void) => () => void;
  readonly isHeld: () => boolean;
};

export const WayBackContext = createContext<WayBack>({ hold: () => () => undefined, isHeld: () => false });

/**
 * Browsers report going back only after the fact, so the URL is restored before any other listener sees it: call this
 * before anything else listens to the URL.
 */
export function watchWayBack(): WayBack {
  let heldPage: { readonly href: string; readonly onBack: () => void } | undefined;
  window.addEventListener("popstate", (event) => {
    if (heldPage === undefined) return;
    event.stopImmediatePropagation();
    history.pushState(null, "", heldPage.href);
    heldPage.onBack();
  });
  return {
    hold: (onBack) => {
      const own = { href: location.href, onBack };
      heldPage = own;
      return () => {
        if (heldPage === own) heldPage = undefined;
      };
    },
    isHeld: () => heldPage !== undefined,
  };
}

/** While going back would lose something, the back button does nothing but call `onBack`. */
export function useWayBack(isClosed: boolean, onBack: () => void): void {
  const { hold } = useContext(WayBackContext);
  useEffect(() => (isClosed ? hold(onBack) : undefined), [isClosed, hold, onBack]);
}

/** While there is something unsaved, the browser asks before it reloads or closes the page. */
export function useStay(hasUnsaved: boolean): void {
  useEffect(() => {
    if (!hasUnsaved) return undefined;
    const ask = (event: Event) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [hasUnsaved]);
}
