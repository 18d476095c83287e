import type { WriteEntry, WritePage } from "../../contract/console.ts";
import { json, type PlainAnswer, problem } from "../../lib/http/plain-request.ts";
import { changeToWire } from "../api/rrsets/wire.ts";
import { plainIds } from "../queries/obfuscated-ids.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { ShownWrite } from "../queries/writes.ts";
import type { RecordService } from "../service.ts";

export type HistoryRequest = { readonly zone: string; readonly query: unknown };

/**
 * A page of a zone's history, by write. The query can have `before`, `until` (a time), `name` (a part of it, unless
 * `whole` is given), `type` and `who`.
 */
export async function answerHistory(
  { writes }: Pick<RecordService, "writes">,
  actor: Actor,
  { zone: name, query }: HistoryRequest,
): Promise<PlainAnswer> {
  const historyQuery = query as Readonly<Record<string, unknown>>;
  const [before, until] = [textAt(historyQuery, "before"), textAt(historyQuery, "until")];
  if (before !== undefined && !/^\d{1,15}$/.test(before)) return problem(422, "before: must be a position.");
  if (until !== undefined && Number.isNaN(Date.parse(until))) return problem(422, "until: must be a time.");
  const outcome = await writes(
    actor,
    { name },
    {
      before: before === undefined ? undefined : Number(before),
      until: until === undefined ? undefined : Date.parse(until),
      match: {
        owner: textAt(historyQuery, "name"),
        isWholeOwner: historyQuery.whole !== undefined,
        type: textAt(historyQuery, "type"),
        actor: textAt(historyQuery, "who"),
      },
    },
  );
  if (outcome.kind !== "done") return problem(404, "There is no such zone.");
  const { next = null, reached } = outcome;
  return json(200, {
    writes: outcome.writes.map(toEntry),
    next,
    reached: reached === undefined ? null : timeText(reached),
  } satisfies WritePage);
}

function textAt(query: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const { [key]: value } = query;
  return typeof value === "string" && value !== "" ? value.slice(0, 300) : undefined;
}

const timeText = (at: number): string => new Date(at).toISOString();

const toEntry = ({
  serial,
  newest,
  at,
  actor,
  added,
  replaced,
  deleted,
  settings,
  begins,
  rows,
}: ShownWrite): WriteEntry => ({
  serial,
  newest,
  at: timeText(at),
  by: actor,
  added,
  changed: replaced + settings,
  deleted,
  begins,
  changes: rows.map((row) => changeToWire(row, plainIds)),
});
