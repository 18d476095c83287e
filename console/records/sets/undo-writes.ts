import { useQueryClient } from "@tanstack/react-query";
import { counted } from "../../shared/counted.ts";
import { RequestProblem } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { zonePath } from "../api.ts";

/**
 * Undoes writes by their serials, the latest first. The service restores exactly what was there, and refuses if it has
 * changed since: then nothing is overwritten.
 */
export function useUndo(zone: string): (serials: readonly number[], what: string) => Promise<string> {
  const { request } = useSession();
  const queries = useQueryClient();
  return async (serials, what) => {
    let done = 0;
    try {
      for (const serial of serials.toReversed()) {
        await request("POST", `${zonePath(zone)}/history/${serial}/undo`);
        done += 1;
      }
    } catch (error) {
      throw done === 0 ? notUndone(error) : partlyUndone(error, done, serials.length);
    } finally {
      void queries.invalidateQueries();
    }
    return `Undone: ${what} as before.`;
  };
}

const notUndone = (error: unknown): unknown =>
  error instanceof RequestProblem && error.code === "conflict"
    ? new RequestProblem(409, `Not undone, to keep a later change: ${error.message}. The history shows who made it.`)
    : error;

const partlyUndone = (error: unknown, done: number, all: number): Error =>
  new Error(
    `Only ${done} of ${counted(all, "write")} undone: ${error instanceof Error ? error.message : String(error)}`,
  );
