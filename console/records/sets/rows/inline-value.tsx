import { useEffect, useId, useRef } from "react";
import type { Editing, RowAct } from "./row-act.ts";

/** Enter saves, Escape restores the old value. Until then, the typed text stays. */
export function InlineValue({ editing, act }: { readonly editing: Editing; readonly act: (act: RowAct) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const fault = useId();
  useEffect(() => field.current?.select(), []);
  return (
    <span className="inline-value">
      <input
        ref={field}
        className="mono"
        aria-label="Value"
        aria-invalid={editing.fault !== undefined}
        aria-describedby={fault}
        value={editing.text}
        readOnly={editing.isSaving}
        spellCheck={false}
        autoCapitalize="none"
        size={Math.min(60, Math.max(16, editing.text.length + 2))}
        onChange={(event) => act({ kind: "type", text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
          event.preventDefault();
          event.stopPropagation();
          if (!event.repeat) act({ kind: event.key === "Enter" ? "save" : "leave" });
        }}
      />
      <span id={fault} className={editing.fault ? "inline-fault bad" : "inline-hint quiet"} role="status">
        {editing.fault ?? (editing.isSaving ? "saving…" : "Enter saves, Escape cancels")}
      </span>
    </span>
  );
}
