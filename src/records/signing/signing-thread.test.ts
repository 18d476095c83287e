import { generateKeyPairSync, verify } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { type SigningThread, startSigningThread } from "./signing-thread.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const job = (text: string) => ({ hash: null, signed: Buffer.from(text), key: { key: privateKey } });

let thread: SigningThread;
afterEach(() => thread.end());

it("answers several messages in their order", async () => {
  thread = startSigningThread();
  const [one, two] = await Promise.all([thread.sign([job("a"), job("b")]), thread.sign([job("c")])]);
  const texts = ["a", "b", "c"];
  const isSigned = [...one, ...two].map((each, i) => verify(null, Buffer.from(texts[i] ?? ""), publicKey, each));
  expect(isSigned).toEqual([true, true, true]);
});

it("has a lower priority than the other threads of this process", async () => {
  const before = threadsWith(10);
  thread = startSigningThread();
  await thread.sign([job("a")]);
  expect(threadsWith(10)).toBe(before + 1);
});

it("signs even if its priority cannot be set", async () => {
  thread = startSigningThread(99);
  expect(await thread.sign([job("a")])).toHaveLength(1);
});

it("if a signature fails, rejects everything that is waiting and every later request", async () => {
  thread = startSigningThread();
  const bad = { ...job("a"), key: { key: publicKey } };
  const [one, two] = await Promise.allSettled([thread.sign([bad]), thread.sign([job("b")])]);
  expect([one?.status, two?.status]).toEqual(["rejected", "rejected"]);
  await expect(thread.sign([job("c")])).rejects.toThrow("the thread that signs has failed");
});

/** How many threads have this nice value (proc_pid_stat(5), field 19). */
const threadsWith = (nice: number): number =>
  readdirSync("/proc/self/task").filter((id) => {
    const text = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[16]) === nice;
  }).length;
