import { counted } from "../../../shared/counted.ts";
import { type Request, RequestProblem } from "../../../shared/live/request.ts";
import { zonePath } from "../../api.ts";

/**
 * Undoes writes by their serials, the latest first. The service restores exactly what was there, and refuses if it has
 * changed since: then nothing is overwritten.
 */
export async function undoWrites(request: Request, zone: string, serials: readonly number[]): Promise<void> {
  let done = 0;
  try {
    for (const serial of serials.toReversed()) {
      await request("POST", `${zonePath(zone)}/history/${serial}/undo`);
      done += 1;
    }
  } catch (error) {
    throw done === 0 ? notUndone(error) : partlyUndone(error, done, serials.length);
  }
}

const notUndone = (error: unknown): unknown =>
  error instanceof RequestProblem && error.code === "conflict"
    ? new RequestProblem(409, `Not undone, to keep a later change: ${error.message}. The history shows who made it.`)
    : error;

const partlyUndone = (error: unknown, done: number, all: number): Error =>
  new Error(
    `Only ${done} of ${counted(all, "write")} undone: ${error instanceof Error ? error.message : String(error)}`,
  );
