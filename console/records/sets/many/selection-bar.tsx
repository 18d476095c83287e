import { Button, Group } from "@mantine/core";
import { useResizeObserver } from "@mantine/hooks";
import { useEffect, useState } from "react";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { counted } from "../../../shared/counted.ts";
import { download } from "../../../shared/download.ts";
import { Problem } from "../../../shared/live/problem.tsx";
import { SureButton } from "../../../shared/sure-button.tsx";
import { LabelDialog, TtlDialog } from "./many-dialogs.tsx";
import { printSets } from "./print-sets.ts";
import { useManyWrite } from "./write-many.ts";
import { namesOf } from "./write-parts.ts";

/** What can be done with the selected sets. */
export default function SelectionBar(props: {
  readonly zone: RrsetsZone;
  readonly chosen: readonly Rrset[];
  /** How many of them the filter hides. */
  readonly hidden: number;
  readonly onClear: () => void;
}) {
  const { zone, chosen, hidden, onClear } = props;
  const [dialog, setDialog] = useState<"ttl" | "label">();
  const remove = useManyWrite(zone);
  const isSecondary = zone.mode === "secondary";
  const free = chosen.filter(({ protection }) => !protection.change);
  const kept = chosen.filter(({ protection, type }) => protection.change || type === "SOA");
  const stays = kept.length === 0 ? "" : ` Not deleted (protected, or the SOA record): ${namesOf(kept)}.`;
  const notes = [
    ...(hidden > 0 ? [`${hidden} not shown`] : []),
    ...(free.length < chosen.length ? [`${chosen.length - free.length} protected`] : []),
  ];
  const gone = free.filter(({ type }) => type !== "SOA");
  const close = () => setDialog(undefined);
  const bar = useHeightForToasts();
  return (
    <section aria-label="Selected records" style={{ flex: 1 }}>
      <Group gap="xs" className="selection" ref={bar}>
        <b role="status">
          {counted(chosen.length, "record set")} selected
          {notes.length > 0 && <span className="quiet"> ({notes.join(", ")})</span>}
        </b>
        <BarButton text="TTL…" onClick={() => setDialog("ttl")} disabled={isSecondary} />
        <BarButton text="Labels…" onClick={() => setDialog("label")} disabled={isSecondary} />
        <BarButton text="Export" onClick={() => download(`${zone.name}-selection.zone`, printSets(zone, chosen))} />
        <SureButton
          key={gone.length}
          size="compact-sm"
          ask="Delete…"
          sure={`Yes, delete ${counted(gone.length, "set")}`}
          disabled={isSecondary || gone.length === 0}
          loading={remove.isPending}
          onSure={() =>
            remove.mutate({
              changes: gone.map((seen) => ({ id: seen.id, seen, wanted: undefined })),
              said: (count) => `Deleted ${count}.${stays}`,
              onDone: onClear,
            })
          }
        />
        <Button size="compact-sm" variant="subtle" className="clear" onClick={onClear}>
          Clear selection
        </Button>
      </Group>
      <Problem error={remove.error} />
      {dialog === "ttl" && <TtlDialog zone={zone} chosen={chosen} onClose={close} onDone={close} />}
      {dialog === "label" && <LabelDialog zone={zone} chosen={chosen} onClose={close} onDone={close} />}
    </section>
  );
}

/** On a phone, the bar is at the bottom and has one line more while it asks; toasts stay above it. */
function useHeightForToasts() {
  const [bar, { height, y }] = useResizeObserver<HTMLDivElement>();
  useEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--selection", `${height + 2 * y}px`);
    return () => void style.removeProperty("--selection");
  }, [height, y]);
  return bar;
}

function BarButton(props: { readonly text: string; readonly onClick: () => void; readonly disabled?: boolean }) {
  const { text, ...button } = props;
  return (
    <Button size="compact-sm" variant="default" {...button}>
      {text}
    </Button>
  );
}
