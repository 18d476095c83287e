import { Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ChangedSet, ChangedZone, ChangeEvent } from "../../../src/contract/change-events.ts";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { ListTable } from "../../shared/list-table.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { RequestProblem } from "../../shared/live/request.ts";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { When } from "../../shared/time/when.tsx";
import { type HistoryPage, readHistory, zonePath } from "../api.ts";
import { groupWrites, linesOf } from "./describe-change.ts";

/** Who changed what and when, with before and after; the latest first. */
export default function HistoryPart({ zone }: { readonly zone: RrsetsZone }) {
  const { request } = useSession();
  const pages = useInfiniteQuery({
    queryKey: ["history", zone.name],
    queryFn: ({ pageParam }) => readHistory(request, zone.name, pageParam),
    initialPageParam: null as number | null,
    getNextPageParam: olderWrites,
  });
  const queries = useQueryClient();
  const undo = usePassingError(
    useMutation({
      mutationFn: (serial: number) => request("POST", `${zonePath(zone.name)}/history/${serial}/undo`),
      onSuccess: () => queries.invalidateQueries(),
    }),
  );
  const writes = groupWrites(pages.data?.pages.flatMap(({ history }) => history) ?? []);
  const rests = new Map(
    pages.data?.pages.map(({ history, meta }) => [history.at(-1)?.serial, meta.rest_of_write ?? 0]),
  );
  if (pages.isPending) return <Waiting />;
  if (pages.data === undefined) return <Problem error={pages.error} retry={() => void pages.refetch()} />;
  return (
    <Stack gap="sm">
      {!pages.isFetchNextPageError && <Problem error={pages.error} retry={() => void pages.refetch()} />}
      <ListTable heads={["When", "Who", "What", { text: "Serial", className: "does" }]}>
        {writes.map((changes) => {
          const [first] = changes;
          return (
            first && (
              <tr key={first.serial}>
                <td data-label="When">
                  <When at={first.at} />
                </td>
                <td data-label="Who">{first.by}</td>
                <td data-label="What">
                  <div>
                    <Changes changes={changes} rest={rests.get(first.serial) ?? 0} />
                    <div aria-live="polite">{undo.variables === first.serial && <Outcome undo={undo} />}</div>
                  </div>
                </td>
                <td data-label="Serial" className="does">
                  <Group gap="xs" justify="flex-end" wrap="nowrap">
                    <span className="mono quiet">{first.serial}</span>
                    {mayUndo(zone, changes) && (
                      <Button
                        size="compact-xs"
                        variant="default"
                        onClick={() => undo.mutate(first.serial)}
                        disabled={undo.isPending}
                        aria-label={`Undo the change with serial ${first.serial}`}
                      >
                        Undo
                      </Button>
                    )}
                  </Group>
                </td>
              </tr>
            )
          );
        })}
      </ListTable>
      {pages.isFetchNextPageError && <Problem error={pages.error} />}
      {pages.data.pages.length > 1 && pages.data.pages.at(-1)?.history.length === 0 && (
        <p className="quiet" role="status">
          There are no older changes.
        </p>
      )}
      {pages.hasNextPage && (
        <Button variant="default" onClick={() => void pages.fetchNextPage()} loading={pages.isFetchingNextPage}>
          Older changes
        </Button>
      )}
    </Stack>
  );
}

/** Pages of the API count sets, and one import may have thousands: the rest of a write that is partly shown is skipped. */
const olderWrites = ({ meta }: HistoryPage): number | null =>
  meta.next_before === null ? null : meta.next_before - (meta.rest_of_write ?? 0);

/** Shown in the row itself, because the top of the page may be far away. */
function Outcome({ undo }: { readonly undo: { readonly isSuccess: boolean; readonly error: Error | null } }) {
  if (undo.isSuccess) return <span className="good">Undone, as a new change at the top.</span>;
  return undo.error && <span className="bad">{refusalOf(undo.error)}</span>;
}

const refusalOf = (error: Error): string =>
  error instanceof RequestProblem && error.code === "conflict"
    ? `${error.message}: undo the later change first, or edit the record.`
    : error.message;

/** The creation of a zone cannot be undone. In a secondary zone, only changes of its settings can. */
const mayUndo = ({ mode }: RrsetsZone, changes: readonly ChangeEvent[]): boolean =>
  mode === "secondary"
    ? changes.every(({ kind }) => kind === "settings")
    : !changes.some(({ kind, type }) => type === "SOA" && kind === "create");

const shown = 8;

/** `rest`: changes of the same write that were not fetched. */
function Changes({ changes, rest }: { readonly changes: readonly ChangeEvent[]; readonly rest: number }) {
  const more = Math.max(0, changes.length - shown) + rest;
  return (
    <Stack gap={2}>
      {changes.slice(0, shown).map((change) => (
        <div key={change.id}>
          <b className="breaks">
            {change.kind === "settings" ? "zone settings" : `${nameToUnicode(change.name ?? "")} ${change.type}`}
          </b>{" "}
          <Lines before={change.before} after={change.after} />
        </div>
      ))}
      {more > 0 && <span className="quiet">and {counted(more, "more set")}</span>}
    </Stack>
  );
}

type Side = ChangedSet | ChangedZone | null;

function Lines({ before, after }: { readonly before: Side; readonly after: Side }) {
  const { gone, come, same } = linesOf(before, after);
  return (
    <span className="mono">
      {gone.map((line) => (
        <del key={line} className="one-of quiet">
          <Cut text={line} />
        </del>
      ))}
      {gone.length > 0 && come.length > 0 && "→ "}
      {come.map((line) => (
        <ins key={line} className="one-of" style={{ textDecoration: "none" }}>
          <Cut text={line} />
        </ins>
      ))}
      {same > 0 && <span className="quiet">({same} unchanged)</span>}
      {after === null && <span className="bad">deleted</span>}
    </span>
  );
}

const longest = 200;

/** Otherwise a key in a TXT record would fill the page. */
function Cut({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= longest) return text;
  return (
    <>
      {text.slice(0, longest)}…{" "}
      <Button size="compact-xs" variant="default" onClick={() => setWhole(true)}>
        Show all {counted(text.length, "character")}
      </Button>
    </>
  );
}
