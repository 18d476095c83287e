import { Button, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ChangedSet, ChangedZone, ChangeEvent } from "../../../src/contract/change-events.ts";
import type { WriteEntry } from "../../../src/contract/console.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { readHistory } from "../api.ts";
import { linesOf, sizeOf, summaryOf, verbs } from "./describe-change.ts";

/** A write with more than `fewChanges` changes shows only the first `fewFirst` until it is expanded. */
const [fewChanges, fewFirst] = [8, 3];

export function WriteChanges({ zone, write }: { readonly zone: string; readonly write: WriteEntry }) {
  const [isOpen, setOpen] = useState(false);
  const size = sizeOf(write);
  const isLarge = size > fewChanges;
  const shown = isLarge ? write.changes.slice(0, fewFirst) : write.changes;
  return (
    <Stack gap={2}>
      {size > 1 && <b>{summaryOf(write)}</b>}
      {isOpen ? <EveryChange zone={zone} write={write} /> : <ChangeList changes={shown} />}
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

function EveryChange({ zone, write }: { readonly zone: string; readonly write: WriteEntry }) {
  const { request } = useSession();
  const size = sizeOf(write);
  const pages = useInfiniteQuery({
    queryKey: ["write", zone, write.serial],
    queryFn: ({ pageParam }) => readHistory(request, zone, pageParam),
    initialPageParam: write.newest + 1,
    getNextPageParam: ({ meta, history }) => (history.at(-1)?.serial === write.serial ? meta.next_before : null),
    staleTime: Infinity,
  });
  const changes = pages.data?.pages.flatMap(({ history }) => history.filter(({ serial }) => serial === write.serial));
  return (
    <>
      <ChangeList changes={changes ?? write.changes} />
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

const ChangeList = ({ changes }: { readonly changes: readonly ChangeEvent[] }) =>
  changes.map((change) => (
    <div key={change.id}>
      <b className="breaks">
        {change.kind === "settings" ? "zone settings" : `${nameToUnicode(change.name ?? "")} ${change.type}`}
      </b>{" "}
      <span className={change.kind === "delete" ? "bad" : "quiet"}>{verbs[change.kind]}</span>{" "}
      <Lines before={change.before} after={change.after} />
    </div>
  ));

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
    </span>
  );
}

const longest = 200;

/** Shortens long texts: a key in a TXT record would fill the page. */
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
