import { expect, it } from "vitest";
import { ServiceQueue } from "./service-queue.ts";

/** Turns that end on demand. */
function rig() {
  const queue = new ServiceQueue<string>();
  const open = new Map<string, () => void>();
  const begun: string[] = [];
  return {
    queue,
    begun,
    add: (name: string, entry: string) =>
      queue.add(name, entry, () => {
        begun.push(entry);
        return new Promise<void>((resolve) => void open.set(entry, resolve));
      }),
    end: async (entry: string) => {
      open.get(entry)?.();
      await new Promise(setImmediate);
    },
  };
}

it("a few names are served in parallel, and the next when one of them has ended", async () => {
  const { add, begun, end } = rig();
  for (const name of ["a", "b", "c", "d", "e", "f"]) add(name, name);
  expect(begun).toEqual(["a", "b", "c", "d"]);
  await end("c");
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
});

it("the families of a name take turns one after the other, even if the second comes later", async () => {
  const { add, begun, end } = rig();
  add("home", "home A");
  add("other", "other A");
  add("home", "home AAAA");
  expect(begun).toEqual(["home A", "other A"]);
  await end("home A");
  expect(begun).toEqual(["home A", "other A", "home AAAA"]);
});

it("an entry that is already waiting gets one turn; one that has begun gets another", async () => {
  const { add, begun, end } = rig();
  add("home", "A");
  add("home", "AAAA");
  add("home", "AAAA");
  add("home", "A");
  await end("A");
  await end("AAAA");
  await end("A");
  expect(begun).toEqual(["A", "AAAA", "A"]);
});

it("is idle when nothing is under way and nothing waits", async () => {
  const { queue, add, end } = rig();
  await queue.idle();
  let isIdle = false;
  add("home", "A");
  add("home", "AAAA");
  const idle = queue.idle().then(() => {
    isIdle = true;
  });
  await end("A");
  expect(isIdle).toBe(false);
  await end("AAAA");
  await idle;
});
