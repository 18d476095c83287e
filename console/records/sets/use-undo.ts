import { useQueryClient } from "@tanstack/react-query";
import { useSession } from "../../shared/session/session.tsx";
import { undoWrites } from "./many/undo-writes.ts";

/** Undoes writes by their serials, and reads everything again; resolves to what the toast says. */
export function useUndo(zone: string): (serials: readonly number[], what: string) => Promise<string> {
  const { request } = useSession();
  const queries = useQueryClient();
  return async (serials, what) => {
    try {
      await undoWrites(request, zone, serials);
    } finally {
      void queries.invalidateQueries();
    }
    return `Undone: ${what} as before.`;
  };
}
