import { Button, Group, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WriteEntry, WritePage } from "../../../src/contract/console.ts";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { ListTable } from "../../shared/list-table.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { RequestProblem } from "../../shared/live/request.ts";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSearchPart } from "../../shared/search-part.ts";
import { useSession } from "../../shared/session/session.tsx";
import { When } from "../../shared/time/when.tsx";
import { dayAndTime } from "../../shared/time/words-of-time.ts";
import { zonePath } from "../api.ts";
import { actorWords } from "../names/device-words.ts";
import { sizeOf, undoInWords } from "./describe-change.ts";
import { HistoryFilterBar } from "./history-filter.tsx";
import { filterIn, filterKeys, type HistoryFilter, isFiltered, readWrites } from "./read-writes.ts";
import { WriteChanges } from "./write-changes.tsx";

/** Milliseconds without a keystroke before the service is asked. */
const pause = 250;

/** Who changed what and when, with before and after; the latest first. */
export default function HistoryPart({ zone }: { readonly zone: RrsetsZone }) {
  const { query, set } = useSearchPart();
  const filter = filterIn(query);
  const [words] = useDebouncedValue(filterKeys.map((key) => filter[key]).join("\n"), pause);
  const [name = "", type = "", who = "", until = ""] = words.split("\n");
  const onChange = (changes: Partial<HistoryFilter>) =>
    set(Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, value || null])));
  return (
    <Stack gap="sm">
      <HistoryFilterBar filter={filter} onChange={onChange} />
      <Writes zone={zone} filter={{ name, type, who, until }} />
    </Stack>
  );
}

function Writes({ zone, filter }: { readonly zone: RrsetsZone; readonly filter: HistoryFilter }) {
  const { request } = useSession();
  const pages = useInfiniteQuery({
    queryKey: ["history", zone.name, filter],
    queryFn: ({ pageParam }) => readWrites(request, zone.name, filter, pageParam),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
  });
  const [asked, setAsked] = useState<WriteEntry>();
  const undo = useUndoWrite(zone);
  const begin = (write: WriteEntry) => (sizeOf(write) > 1 ? setAsked(write) : undo.mutate(write.serial));
  if (pages.isPending) return <Waiting />;
  if (pages.data === undefined) return <Problem error={pages.error} retry={() => void pages.refetch()} />;
  const writes = pages.data.pages.flatMap((page) => page.writes);
  return (
    <>
      {!pages.isFetchNextPageError && <Problem error={pages.error} retry={() => void pages.refetch()} />}
      {writes.length > 0 && (
        <ListTable heads={["When", "Who", "What", { text: "Serial", className: "does" }]}>
          {writes.map((write) => (
            <WriteRow key={write.serial} zone={zone} write={write} undo={undo} onUndo={() => begin(write)} />
          ))}
        </ListTable>
      )}
      {asked && (
        <UndoDialog
          write={asked}
          onClose={() => setAsked(undefined)}
          onUndo={() => {
            setAsked(undefined);
            undo.mutate(asked.serial);
          }}
        />
      )}
      {pages.isFetchNextPageError && <Problem error={pages.error} />}
      <p className="quiet" role="status" style={{ margin: 0 }}>
        {endOf(pages.data.pages, filter)}
      </p>
      {pages.hasNextPage && (
        <Button variant="default" onClick={() => void pages.fetchNextPage()} loading={pages.isFetchingNextPage}>
          Older changes
        </Button>
      )}
    </>
  );
}

function useUndoWrite(zone: RrsetsZone) {
  const { request } = useSession();
  const queries = useQueryClient();
  return usePassingError(
    useMutation({
      mutationFn: (serial: number) => request("POST", `${zonePath(zone.name)}/history/${serial}/undo`),
      onSuccess: () => queries.invalidateQueries(),
    }),
  );
}

function WriteRow(props: {
  readonly zone: RrsetsZone;
  readonly write: WriteEntry;
  readonly undo: ReturnType<typeof useUndoWrite>;
  readonly onUndo: () => void;
}) {
  const { zone, write, undo } = props;
  const size = sizeOf(write);
  const words = size > 1 ? `Undo all ${size.toLocaleString("en-GB")}` : "Undo";
  const isUndone = undo.variables === write.serial;
  return (
    <tr>
      <td data-label="When">
        <When at={write.at} />
      </td>
      <td data-label="Who">
        <span title={write.by}>{actorWords(write.by)}</span>
      </td>
      <td data-label="What">
        <div style={{ minWidth: 0 }}>
          <WriteChanges zone={zone} write={write} />
          <div aria-live="polite">{isUndone && <Outcome undo={undo} />}</div>
        </div>
      </td>
      <td data-label="Serial" className="does">
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <span className="mono quiet">{write.serial}</span>
          {mayUndo(zone, write) && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={props.onUndo}
              loading={isUndone && undo.isPending}
              disabled={!isUndone && undo.isPending}
              aria-label={`${size > 1 ? `${words} changes` : "Undo the change"} with serial ${write.serial}`}
            >
              {size > 1 ? `${words}…` : words}
            </Button>
          )}
        </Group>
      </td>
    </tr>
  );
}

/** A write of several sets is undone as a whole, also what a filter hides or the list cuts off. */
function UndoDialog(props: { readonly write: WriteEntry; readonly onUndo: () => void; readonly onClose: () => void }) {
  const { write, onUndo, onClose } = props;
  const all = `all ${sizeOf(write).toLocaleString("en-GB")} changes`;
  return (
    <Dialog title={`Undo ${all}?`} onClose={onClose} size="md">
      <Text size="sm" mb="md">
        This undoes the whole write with serial {write.serial}, including changes that are not shown here:{" "}
        <b>{undoInWords(write)}</b>. To change only one of them, use <i>Restore this record</i>.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" onClick={onUndo}>
          Undo {all}
        </Button>
      </Group>
    </Dialog>
  );
}

/** Says why the list ends where it does. */
function endOf(pages: readonly WritePage[], filter: HistoryFilter): string {
  const last = pages.at(-1);
  const none = pages.every(({ writes }) => writes.length === 0);
  if (last?.next === null) {
    if (none) return isFiltered(filter) ? "No changes match." : "There are no changes.";
    return pages.length > 1 ? "There are no older changes." : "";
  }
  const isShort = last?.writes.length === 0 && last.reached !== null;
  return isShort ? `No ${none ? "" : "further "}matches back to ${dayAndTime(Date.parse(last.reached ?? ""))}.` : "";
}

/** Shown in the row itself, because the top of the page may be far away. */
function Outcome({ undo }: { readonly undo: { readonly isSuccess: boolean; readonly error: Error | null } }) {
  if (undo.isSuccess) return <span className="good">Undone; the undo is listed at the top.</span>;
  return undo.error && <span className="bad">{refusalOf(undo.error)}</span>;
}

const refusalOf = (error: Error): string =>
  error instanceof RequestProblem && error.code === "conflict"
    ? `${error.message}: undo the later change first, or edit the record.`
    : error.message;

/** The creation of a zone cannot be undone. In a secondary zone, only changes of its settings can. */
const mayUndo = ({ mode }: RrsetsZone, { begins, changes }: WriteEntry): boolean =>
  mode === "secondary" ? changes.every(({ kind }) => kind === "settings") : !begins;
