import {
  createContext,
  type ReactNode,
  type RefObject,
  Suspense,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";
import { lazyPart } from "../live/lazy-part.tsx";
import type { KeyUse } from "./key-use.ts";

const KeyHelp = lazyPart(() => import("./key-help.tsx"));

type Uses = RefObject<readonly KeyUse[]>;

type KeysOfPage = {
  /** Returns the function that removes them. */
  readonly add: (uses: Uses) => () => void;
  readonly showHelp: () => void;
};

const KeysContext = createContext<KeysOfPage>({ add: () => () => undefined, showHelp: () => undefined });

/** Lets a part of the page use keys for as long as it is shown. The help lists them. */
export function useKeys(uses: readonly KeyUse[]): void {
  const { add } = useContext(KeysContext);
  const latest = useRef(uses);
  latest.current = uses;
  useEffect(() => add(latest), [add]);
}

export const useKeyHelp = (): (() => void) => useContext(KeysContext).showHelp;

/** Handles shortcut keys for the whole page; `?` lists them. For a button or field, `withKey` is enough. */
export function Keys({ children }: { readonly children: ReactNode }) {
  const [registered] = useState(() => new Set<Uses>());
  const [listed, setListed] = useState<readonly KeyUse[]>();
  const [keys] = useState<KeysOfPage>(() => ({
    add: (uses) => {
      registered.add(uses);
      return () => void registered.delete(uses);
    },
    showHelp: () => setListed(usesOf(registered)),
  }));
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTaken(event)) return;
      const uses = usesOf(registered);
      const use = uses.find(({ key, run }) => run !== undefined && key === event.key);
      if (event.key === "?") setListed(uses);
      else use?.run?.();
      if (event.key === "?" || use !== undefined) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [registered]);
  return (
    <KeysContext value={keys}>
      {children}
      {listed && (
        <Suspense>
          <KeyHelp uses={listed} onClose={() => setListed(undefined)} />
        </Suspense>
      )}
    </KeysContext>
  );
}

const usesOf = (registered: ReadonlySet<Uses>): readonly KeyUse[] => [
  ...markedUses(),
  ...[...registered].flatMap(({ current }) => current),
];

/** The buttons and fields on the page that name their key. */
const markedUses = (): readonly KeyUse[] =>
  [...document.querySelectorAll<HTMLElement>("[aria-keyshortcuts]:enabled")]
    .filter((element) => element.checkVisibility())
    .map((element) => ({
      key: element.getAttribute("aria-keyshortcuts") ?? "",
      does: element.getAttribute("aria-label") ?? element.textContent,
      run: () => {
        element.focus();
        if (element instanceof HTMLInputElement) element.select();
        else element.click();
      },
    }));

/** Whether the key belongs to what has the focus, to an open dialog, or to the browser. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.repeat) return true;
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const { target } = event;
  if (target instanceof Element && target.closest(`${typing}, [role="menu"], [role="listbox"]`) !== null) return true;
  return [...document.querySelectorAll('[role="dialog"]')].some((dialog) => dialog.checkVisibility());
}

const typing =
  'input:not([type="checkbox"], [type="radio"], [type="button"]), textarea, select, [contenteditable="true"]';
