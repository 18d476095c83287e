import { useEffect } from "react";

/** Milliseconds after which nobody expects the form any more. */
const patience = 1_000;

/** Stands for a form while its code is loaded. What is typed meanwhile goes into the form's first field. */
export function TypeAhead() {
  useEffect(() => {
    const keys = holdKeys();
    return () => void setTimeout(keys.release, patience);
  }, []);
  return null;
}

/** Keeps typed characters until a field of a dialog has the focus, and puts them there. */
function holdKeys(): { readonly release: () => void } {
  let typed = "";
  const onKey = (event: KeyboardEvent) => {
    if (event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    typed += event.key;
    // Otherwise the page would take it for a shortcut.
    event.preventDefault();
    event.stopPropagation();
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLInputElement) || target.closest('[role="dialog"]') === null) return;
    release();
    // Deprecated, but the only way to type into a field like a user, with the events that React listens for.
    if (typed !== "") document.execCommand("insertText", false, typed);
  };
  const release = () => {
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("focusin", onFocus);
  };
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("focusin", onFocus);
  return { release };
}
