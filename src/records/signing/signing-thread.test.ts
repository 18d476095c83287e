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

it("gives way to the other threads of this process", async () => {
  const before = priorities();
  thread = startSigningThread();
  await thread.sign([job("a")]);
  const added = priorities();
  for (const each of before) added.splice(added.indexOf(each), 1);
  expect(added).toContain(10);
  expect(priorities()[0]).toBe(before[0]);
});

it("rejects everything that waits if a signature fails", async () => {
  thread = startSigningThread();
  const key = { key: publicKey };
  const [one, two] = await Promise.allSettled([thread.sign([{ ...job("a"), key }]), thread.sign([job("b")])]);
  expect([one?.status, two?.status]).toEqual(["rejected", "rejected"]);
});

/** The nice values of all threads; that of the main thread is the first (proc_pid_stat(5), field 19). */
function priorities(): number[] {
  return readdirSync("/proc/self/task").map((id) => {
    const text = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[16]);
  });
}
