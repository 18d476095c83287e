export { createLog as createSmallLog, type Logger as SmallLog, noLog } from "./log.ts";
