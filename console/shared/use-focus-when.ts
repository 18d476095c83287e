import { type RefObject, useEffect, useRef } from "react";

/**
 * For the button of a dialog that becomes usable later, and then gets the focus. A disabled button cannot have it: with
 * `data-autofocus`, the focus would stay on the page behind the dialog.
 */
export function useFocusWhen(isUsable: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isUsable) button.current?.focus();
  }, [isUsable]);
  return button;
}
