import { useEffect, useLayoutEffect, useRef } from "react";

/**
 * A link opens the next page at its top, although it may be pressed far down: the bar of pages of a phone is always in
 * view. The browser's back and forward buttons return to where the page was.
 */
export function useTopOfPage(path: string): void {
  const shown = useRef(path);
  const returnedTo = useRef<string>(undefined);
  useEffect(() => {
    const note = () => {
      returnedTo.current = window.location.pathname;
    };
    window.addEventListener("popstate", note, true);
    return () => window.removeEventListener("popstate", note, true);
  }, []);
  useLayoutEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (returnedTo.current !== path) window.scrollTo(0, 0);
    returnedTo.current = undefined;
  }, [path]);
}
