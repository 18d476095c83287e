import { Button, CloseButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useKeys } from "../keys/keys.tsx";
import "./toasts.css";

export type Toast = {
  readonly text: string;
  /** Undoes what the toast reports; resolves to the text to show next. */
  readonly undo?: (() => Promise<string>) | undefined;
  readonly isBad?: boolean;
};

const ToastContext = createContext<(toast: Toast) => void>(() => undefined);

/** Says that something was done, without interrupting. */
export const useToast = (): ((toast: Toast) => void) => useContext(ToastContext);

/** Milliseconds that a toast stays, unless somebody points at it or has the focus in it. */
const longest = 60_000;

/** Shows the latest toast in a corner of the page. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  const [shown, setShown] = useState<Toast>();
  const [isHeld, setHeld] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const { isPending, begin } = useUndo(shown, setShown, box);
  useEffect(() => {
    if (shown === undefined || isHeld || isPending) return undefined;
    const timer = setTimeout(() => setShown(undefined), longest);
    return () => clearTimeout(timer);
  }, [shown, isHeld, isPending]);
  const dismiss = () => {
    setShown(undefined);
    setHeld(false);
    document.getElementById("content")?.focus({ preventScroll: true });
  };
  return (
    <ToastContext value={setShown}>
      {children}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- only so that a toast that is being read does not disappear */}
      <div
        ref={box}
        className={shown ? "toasts" : "toasts empty"}
        onMouseEnter={() => setHeld(true)}
        onMouseLeave={() => setHeld(false)}
        onFocus={() => setHeld(true)}
        onBlur={() => setHeld(false)}
        onKeyDown={(event) => event.key === "Escape" && dismiss()}
      >
        <ToastText toast={shown} />
        {shown?.undo && (
          <Button size="compact-sm" variant="default" loading={isPending} onClick={begin} title="Shortcut: z">
            Undo
          </Button>
        )}
        {shown && <CloseButton aria-label="Dismiss" onClick={dismiss} />}
      </div>
    </ToastContext>
  );
}

/** Undoes what the toast reports, by its button or a key, and shows the outcome. */
function useUndo(shown: Toast | undefined, show: (toast: Toast) => void, box: RefObject<HTMLDivElement | null>) {
  const undo = useMutation({
    mutationFn: (take: () => Promise<string>) => take(),
    onSuccess: (text) => show({ text }),
    onError: ({ message }) => show({ text: message, isBad: true }),
  });
  const { isPending } = undo;
  const refocus = useRef(false);
  const take = shown?.undo;
  const begin = () => {
    if (!take || isPending) return;
    refocus.current = box.current?.querySelector(":focus-visible") != null;
    undo.mutate(take);
  };
  // The button that had the focus is gone then.
  useLayoutEffect(() => {
    if (shown?.undo !== undefined || !refocus.current) return;
    refocus.current = false;
    box.current?.querySelector("button")?.focus();
  }, [shown, box]);
  useKeys([{ key: "z", does: "Undo the last change", run: begin }]);
  return { isPending, begin };
}

const ToastText = ({ toast }: { readonly toast: Toast | undefined }) => (
  <div>
    <div role="status">{toast && !toast.isBad && <p className="toast-text">{toast.text}</p>}</div>
    {toast?.isBad && (
      <p role="alert" className="toast-text bad">
        {toast.text}
      </p>
    )}
  </div>
);
