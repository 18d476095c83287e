import { Button, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ChangeEvent } from "../../../src/contract/change-events.ts";
import type { WriteEntry } from "../../../src/contract/console.ts";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { typeName } from "../../../src/core/rdata/table.ts";
import { counted } from "../../shared/counted.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { readHistory } from "../api.ts";
import { Lines } from "./change-lines.tsx";
import { canRestore, inOrder, sizeOf, summaryOf, verbOf } from "./describe-change.ts";
import { RestoreDialog } from "./restore-dialog.tsx";

/** A write with more than `fewChanges` changes shows only the first `fewFirst` until it is expanded. */
const [fewChanges, fewFirst] = [8, 3];

export function WriteChanges({ zone, write }: { readonly zone: RrsetsZone; readonly write: WriteEntry }) {
  const [isOpen, setOpen] = useState(false);
  const size = sizeOf(write);
  const isLarge = size > fewChanges;
  const shown = isLarge ? write.changes.slice(0, fewFirst) : write.changes;
  return (
    <Stack gap={2}>
      {size > 1 && <b>{summaryOf(write)}</b>}
      {isOpen ? <EveryChange zone={zone} write={write} /> : <ChangeList zone={zone} changes={inOrder(shown)} />}
      {size > shown.length && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setOpen(!isOpen)}
          aria-expanded={isOpen}
          style={{ alignSelf: "flex-start" }}
        >
          {isOpen ? "Show fewer" : `Show all ${counted(size, "change")}`}
        </Button>
      )}
    </Stack>
  );
}

function EveryChange({ zone, write }: { readonly zone: RrsetsZone; readonly write: WriteEntry }) {
  const { request } = useSession();
  const size = sizeOf(write);
  const pages = useInfiniteQuery({
    queryKey: ["write", zone.name, write.serial],
    queryFn: ({ pageParam }) => readHistory(request, zone.name, pageParam),
    initialPageParam: write.newest + 1,
    getNextPageParam: ({ meta, history }) => (history.at(-1)?.serial === write.serial ? meta.next_before : null),
    staleTime: Infinity,
  });
  const changes = pages.data?.pages.flatMap(({ history }) =>
    inOrder(history.filter(({ serial }) => serial === write.serial)),
  );
  return (
    <>
      <ChangeList zone={zone} changes={changes ?? inOrder(write.changes)} />
      <Problem error={pages.error} retry={() => void pages.fetchNextPage()} />
      {pages.hasNextPage && changes && changes.length < size && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => void pages.fetchNextPage()}
          loading={pages.isFetchingNextPage}
          style={{ alignSelf: "flex-start" }}
        >
          Show the next {Math.min(100, size - changes.length)} of {size.toLocaleString("en-GB")}
        </Button>
      )}
    </>
  );
}

function ChangeList({ zone, changes }: { readonly zone: RrsetsZone; readonly changes: readonly ChangeEvent[] }) {
  const [restored, setRestored] = useState<ChangeEvent>();
  return (
    <>
      {changes.map((change) => (
        <div key={change.id}>
          <b className="breaks">
            {change.kind === "settings"
              ? "zone settings"
              : `${nameToUnicode(change.name ?? "")} ${typeName(change.type ?? "")}`}
          </b>{" "}
          <span className={change.kind === "delete" ? "bad" : "quiet"}>{verbOf(change)}</span>{" "}
          <Lines before={change.before} after={change.after} />{" "}
          {canRestore(zone, change) && (
            <button
              type="button"
              className="as-link quiet"
              onClick={() => setRestored(change)}
              aria-label={`Restore this record: ${nameToUnicode(change.name ?? "")} ${typeName(change.type ?? "")} from before serial ${change.serial}`}
            >
              Restore this record…
            </button>
          )}
        </div>
      ))}
      {restored && <RestoreDialog zone={zone.name} change={restored} onClose={() => setRestored(undefined)} />}
    </>
  );
}
