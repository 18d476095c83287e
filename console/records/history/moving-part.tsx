import { Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { Problem } from "../../shared/live/problem.tsx";
import type { Request } from "../../shared/live/request.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { SpanTable } from "../../shared/time/span-table.tsx";
import { Timeline } from "../../shared/time/timeline.tsx";
import { useNow } from "../../shared/time/when.tsx";
import { durationInWords } from "../../shared/time/words-of-time.ts";
import { readHistory } from "../api.ts";
import { type MovingName, movingNames } from "./moving-names.ts";

const mostPages = 20;

/** The names whose address has changed, and how long each has had its current one. */
export default function MovingPart({ zone }: { readonly zone: RrsetsZone }) {
  const { request } = useSession();
  const history = useQuery({ queryKey: ["history", zone.name, "whole"], queryFn: () => readAll(request, zone.name) });
  if (history.isPending) return <Waiting />;
  const names = movingNames(history.data?.changes ?? []);
  return (
    <Stack gap="md">
      <Problem error={history.error} retry={() => void history.refetch()} />
      {history.data?.isWhole === false && (
        <p className="note">
          Based on the latest {counted(history.data.changes.length, "change")} of the zone; older changes are not
          included.
        </p>
      )}
      {names.length === 0 && history.data && (
        <Text>
          There was no address change in this zone {history.data.isWhole ? "yet" : "in this period"}. The addresses of
          its dynamic names, and the time between address changes, appear here.
        </Text>
      )}
      {names.map((name) => (
        <OneName key={`${name.name}/${name.type}`} moving={name} zone={zone.name} />
      ))}
    </Stack>
  );
}

function OneName({ moving, zone }: { readonly moving: MovingName; readonly zone: string }) {
  const now = useNow(60_000);
  const { spans, name, type } = moving;
  const last = spans.at(-1);
  const full = nameToUnicode(absoluteName(name, zone));
  return (
    <Paper withBorder p="md">
      <Title order={2} className="mono">
        {full} <span className="quiet">{type}</span>
      </Title>
      <Text size="sm" mb="xs">
        {last && (
          <>
            <span className="mono">{last.address}</span> for {durationInWords(now - last.from)} ·{" "}
            {counted(spans.length - 1, "address change")}
            {usualTime(moving)}
          </>
        )}
      </Text>
      <Timeline spans={spans} label={`Addresses of ${full} over time; the table below has the same data`} />
      <SpanTable spans={spans} now={now} />
    </Paper>
  );
}

/** The median of the times: one long quiet year must not hide a busy month. One or two times say nothing. */
function usualTime({ spans }: MovingName): string {
  const times = spans
    .flatMap(({ from, until }) => (until === undefined ? [] : [until - from]))
    .toSorted((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  return middle === undefined || times.length < 3 ? "" : `, usually ${durationInWords(middle)} apart`;
}

async function readAll(request: Request, zone: string) {
  const changes = [];
  let before: number | null = null;
  for (let page = 0; page < mostPages; page++) {
    const read: Awaited<ReturnType<typeof readHistory>> = await readHistory(request, zone, before);
    changes.push(...read.history);
    before = read.meta.next_before;
    if (before === null) break;
  }
  return { changes, isWhole: before === null };
}
