import { startAsWriter } from "../src/records/writer.ts";

/**
 * The program of the thread that writes. An error outside of a write ends the thread, and the next write starts another
 * one.
 */
startAsWriter();
