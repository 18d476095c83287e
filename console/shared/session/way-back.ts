import { createContext, useCallback, useContext, useEffect } from "react";

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

/**
 * While leaving the page would lose something, links and the back button call `onLeave` instead, with the address that
 * the link leads to.
 */
export function useHeldPage(isHeld: boolean, onLeave: (to: string | undefined) => void): void {
  const onBack = useCallback(() => onLeave(undefined), [onLeave]);
  useWayBack(isHeld, onBack);
  useStay(isHeld);
  useEffect(() => {
    if (!isHeld) return undefined;
    const hold = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const opensElsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey;
      if (link === null || opensElsewhere || link.hasAttribute("download") || link.target === "_blank") return;
      event.preventDefault();
      event.stopPropagation();
      onLeave(link.href);
    };
    // Before any other listener.
    window.addEventListener("click", hold, true);
    return () => window.removeEventListener("click", hold, true);
  }, [isHeld, onLeave]);
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
