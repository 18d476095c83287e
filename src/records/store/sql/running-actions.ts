import { type Sql, sql } from "../../../lib/sqlite/sql.ts";
import type { RecordStore } from "../port.ts";

export const createRunningActions = ({
  write,
}: Pick<Sql, "write">): Pick<RecordStore, "startAction" | "extendAction" | "endAction"> => ({
  startAction: async ({ number: zone, name: zoneName, account }, actionName, { actor, now, until }) => {
    const [row] = await write<{ readonly id: number }>(
      sql`INSERT INTO actions (account, zone, zone_name, command, at, actor, running_until)
          VALUES (${account}, ${zone}, ${zoneName}, ${actionName}, ${now}, ${actor}, ${until}) RETURNING id`,
    );
    return { id: Number(row?.id), zone, zoneName, command: actionName, at: now, status: "running" };
  },
  extendAction: (id, until) =>
    write(sql`UPDATE actions SET running_until = ${until} WHERE id = ${id} AND running_until IS NOT NULL`),
  endAction: (id, now, error) =>
    write(
      sql`UPDATE actions SET running_until = NULL, finished = ${now}, error = ${error ?? null}
          WHERE id = ${id} AND running_until IS NOT NULL`,
    ),
});
