import { createLog, type Logger } from "../../process/log.ts";
import type { CommandIo } from "./command-io.ts";
import type { LogOptions } from "./options.ts";

/** Apart from the options themselves, which every verb reads: a log takes 20 ms to load. */
export const logTo = (io: CommandIo, { logFormat }: LogOptions): Logger =>
  createLog({ format: logFormat, write: io.err });
