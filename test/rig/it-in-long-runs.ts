import { it } from "vitest";
import { isLongRun } from "./long-run.ts";

type AddTest = (title: string, test: () => void | Promise<void>) => void;

/** Adds a test that only long runs have. A shorter test holds its claim too: a comment says which. */
export const itInLongRuns: AddTest = isLongRun ? it : () => undefined;
