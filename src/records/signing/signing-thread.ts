import type { KeyObject } from "node:crypto";
import { Worker } from "node:worker_threads";

/** One signature: the hash, what is signed, and the key with its options. */
export type SigningJob = {
  readonly hash: string | null;
  readonly signed: Uint8Array;
  readonly key: { readonly key: KeyObject; readonly dsaEncoding?: "ieee-p1363" };
};

export type SigningThread = {
  /** The signatures, in the same order. */
  readonly sign: (jobs: readonly SigningJob[]) => Promise<readonly Uint8Array[]>;
  readonly end: () => Promise<void>;
};

/**
 * Signs in another thread. On Linux it gets the processor only while nobody else needs it: requests must not wait because a large zone
 * is being signed. (Other systems can lower the priority of the whole process only.)
 */
export function startSigningThread(): SigningThread {
  const worker = new Worker(program, { eval: true });
  const waiting: PromiseWithResolvers<readonly Uint8Array[]>[] = [];
  worker.on("message", (signatures: readonly Uint8Array[]) => waiting.shift()?.resolve(signatures));
  worker.on("error", (error) => {
    for (const each of waiting.splice(0)) each.reject(error);
  });
  return {
    sign: (jobs) => {
      const signatures = Promise.withResolvers<readonly Uint8Array[]>();
      waiting.push(signatures);
      worker.postMessage(jobs);
      return signatures.promise;
    },
    end: async () => {
      await worker.terminate();
    },
  };
}

const program = `
  const { parentPort } = require("node:worker_threads");
  const { sign } = require("node:crypto");
  if (process.platform === "linux") require("node:os").setPriority(10);
  parentPort.on("message", (jobs) =>
    parentPort.postMessage(jobs.map(({ hash, signed, key }) => sign(hash, signed, key))));
`;
