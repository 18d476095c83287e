import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from "react";

type Spot = { readonly row: number; readonly part: string };

/**
 * Moves the focus between rows with arrow keys. Rows that are not on the screen do not exist yet, so the focus may have
 * to wait for the row that it goes to.
 */
export function useRowFocus(box: RefObject<HTMLElement | null>, count: number, show: (row: number) => void) {
  const [current, setCurrent] = useState(0);
  const wanted = useRef<Spot>(undefined);
  const [, setAsked] = useState(0);
  useLayoutEffect(() => {
    const spot = wanted.current;
    const row = spot && box.current?.querySelector(`[data-row="${spot.row}"]`);
    if (!spot || !row) return;
    const part = row.querySelector<HTMLElement>(`[data-part="${spot.part}"]`) ?? row.querySelector<HTMLElement>("a");
    wanted.current = undefined;
    part?.focus({ preventScroll: true });
  });
  const go = (row: number, part: string) => {
    const next = Math.max(0, Math.min(count - 1, row));
    if (count === 0) return;
    wanted.current = { row: next, part };
    setCurrent(next);
    setAsked((times) => times + 1);
    show(next);
  };
  return {
    current,
    go,
    onFocus: (target: Element) => {
      const row = target.closest("[data-row]");
      if (row) setCurrent(Number(row.getAttribute("data-row")));
    },
    /** Whether the key has moved the focus. */
    onKey: (event: KeyboardEvent, page: number): boolean => {
      const row = Number((event.target as Element).closest("[data-row]")?.getAttribute("data-row"));
      const part = (event.target as Element).closest("[data-part]")?.getAttribute("data-part");
      const next = steps(row, page, count)[event.key];
      if (next === undefined || !part || event.ctrlKey || event.metaKey || event.altKey) return false;
      event.preventDefault();
      go(next, part);
      return true;
    },
  };
}

const steps = (row: number, page: number, count: number): Readonly<Record<string, number>> => ({
  ArrowDown: row + 1,
  ArrowUp: row - 1,
  PageDown: row + page,
  PageUp: row - page,
  Home: 0,
  End: count - 1,
});
