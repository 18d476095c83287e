import type { KeyObject } from "node:crypto";
import { Worker } from "node:worker_threads";

/** One signature: the hash, what is signed, and the key with its options. */
export type SigningJob = {
  readonly hash: string | null;
  readonly signed: Uint8Array;
  readonly key: { readonly key: KeyObject; readonly dsaEncoding?: "ieee-p1363" };
};

/** As a nice value. */
const usualPriority = 10;

export type SigningThread = ReturnType<typeof startSigningThread>;

/**
 * Signs in another thread. On Linux it has a low priority: requests must not wait because a large zone is being signed.
 * (Other systems can lower the priority of the whole process only.) If the system does not allow that, it signs all the
 * same.
 */
export function startSigningThread(priority = usualPriority) {
  const worker = new Worker(program, { eval: true, workerData: { priority } });
  const waiting: PromiseWithResolvers<readonly Uint8Array[]>[] = [];
  let trouble: Error | undefined;
  const fail = (error: Error) => {
    trouble ??= error;
    for (const each of waiting.splice(0)) each.reject(trouble);
  };
  worker.on("message", (signatures: readonly Uint8Array[]) => waiting.shift()?.resolve(signatures));
  worker.on("error", (cause) => fail(new Error("the thread that signs has failed", { cause })));
  worker.on("exit", () => fail(new Error("the thread that signs has ended")));
  return {
    /** The signatures, in the same order. */
    sign: async (jobs: readonly SigningJob[]): Promise<readonly Uint8Array[]> => {
      if (trouble !== undefined) throw trouble;
      const signatures = Promise.withResolvers<readonly Uint8Array[]>();
      waiting.push(signatures);
      worker.postMessage(jobs);
      return await signatures.promise;
    },
    end: async (): Promise<void> => {
      await worker.terminate();
    },
  };
}

const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { sign } = require("node:crypto");
  const { getPriority, setPriority } = require("node:os");
  try {
    if (process.platform === "linux" && getPriority() < workerData.priority) setPriority(workerData.priority);
  } catch {}
  parentPort.on("message", (jobs) =>
    parentPort.postMessage(jobs.map(({ hash, signed, key }) => sign(hash, signed, key))));
`;
