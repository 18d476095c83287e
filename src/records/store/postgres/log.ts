import type { Postgres } from "../../../lib/postgres/open.ts";
import type { LeftPlace, LinkedRow, LogPlace } from "../../model.ts";
import type { DivergedLog, RecordStore } from "../port.ts";
import { type ChangeRow, changeFromRow } from "../rows.ts";

/** Links are random numbers below this one, so that no two histories have the same. */
export const mostLink = 2 ** 48 - 1;

type LinkRow = Pick<ChangeRow, "position" | "zone" | "serial" | "at"> & { readonly link: number | null };

/** No row has a link that is `null` here: `log_head` has none before the first write. */
export const placeAt = (position: number, link: number | null): LogPlace => ({ position, link: String(link) });

/** A row without a link was copied: its content identifies it. */
const placeOf = ({ position, link, zone, serial, at }: LinkRow): LogPlace =>
  link === null ? { position, link: `${zone} ${serial} ${at}` } : placeAt(position, link);

const linkColumns = "position, link, zone, serial, at";
/** Before the first row there is nothing that could differ. */
const beginning: LogPlace = { position: 0, link: "" };

/**
 * The log, and whether it still is the one that somebody followed. A check and what it allows are read in one snapshot.
 */
export function createLogReads({
  read,
  transact,
}: Pick<Postgres, "read" | "transact">): Pick<RecordStore, "logEnd" | "logFrom" | "timeline" | "lostSince"> {
  const otherHistory: DivergedLog = {
    placesStillInLog: async (places) => {
      const text = `SELECT ${linkColumns} FROM changes WHERE position = ANY($1)`;
      const { rows } = await read({ name: "log places", text, values: [places.map(({ position }) => position)] });
      const linkAt = new Map((rows as LinkRow[]).map((row) => [row.position, placeOf(row).link]));
      return new Set(
        places.filter(({ position, link }) => linkAt.get(position) === link).map((place) => place.position),
      );
    },
    skipTo: async (position) => {
      const text = "UPDATE log_head SET position = greatest(position, $1)";
      await transact(async () => ({ result: undefined, last: { text, values: [position] } }));
    },
  };
  const logFrom: RecordStore["logFrom"] = async (place, limit) => {
    const text = "SELECT * FROM changes WHERE position >= $1 ORDER BY position LIMIT $2";
    const { rows } = await read({ name: "log from", text, values: [place.position, limit + 1] });
    const linkedRows = (rows as (ChangeRow & LinkRow)[]).map(
      (row): LinkedRow => ({ ...changeFromRow(row), ...placeOf(row) }),
    );
    if (place.position === 0) return linkedRows.slice(0, limit);
    const [first, ...later] = linkedRows;
    return first !== undefined && samePlace(first, place) ? later : otherHistory;
  };
  const timeline = async () => {
    const here = "left(pg_walfile_name(pg_current_wal_lsn()), 8)";
    const text = `SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE ${here} END AS timeline`;
    const [row] = (await read({ name: "timeline", text })).rows as { readonly timeline: string }[];
    return row?.timeline ?? "";
  };
  return {
    logEnd: async () => {
      const text = `SELECT ${linkColumns} FROM changes ORDER BY position DESC LIMIT 1`;
      const [last] = (await read({ name: "log end", text })).rows as LinkRow[];
      return last === undefined ? beginning : placeOf(last);
    },
    logFrom,
    timeline,
    lostSince: async (left: LeftPlace) => {
      const oldest = (await read({ name: "log begin", text: "SELECT min(position) AS position FROM changes" })).rows;
      const isDropped = ((oldest[0] as { readonly position: number | null }).position ?? 0) > left.position;
      if (!isDropped && "placesStillInLog" in (await logFrom(left, 0))) return otherHistory;
      // Without the row, or after it, only the timeline shows that rows may be lost.
      const isSame = (!isDropped && left.isLast) || left.timeline === (await timeline());
      return isSame ? undefined : otherHistory;
    },
  };
}

export const samePlace = (a: LogPlace, b: LogPlace): boolean => a.position === b.position && a.link === b.link;
