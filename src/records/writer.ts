import { workerData } from "node:worker_threads";
import { ruleOf } from "./rules.ts";
import { KeyFileSigner } from "./signing/signer.ts";
import { type WriterStart, writeAsThread } from "./store/sqlite/writer-thread.ts";

/** In the thread that writes to a store in SQLite. */
export function startAsWriter(): void {
  const { path, keyFile, limits } = workerData as WriterStart;
  writeAsThread(path, new KeyFileSigner(keyFile), ruleOf, limits);
}
