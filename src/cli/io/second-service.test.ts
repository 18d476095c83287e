import { afterEach, beforeEach, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { runMoor } from "../program.ts";

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
});
afterEach(() => loop.close());

it.each([
  [
    "records --listen 127.0.0.1:0",
    / listens on /,
    /another moor records uses \S+records\.sqlite; stop it, or choose another folder with --data\n/,
  ],
  [
    "firewall --listen 127.0.0.1:0",
    / listens on /,
    /another moor firewall uses the folder \S+; stop it, or choose another folder with --data\n/,
  ],
  ["update", /watching/, /another updater uses the state file \S+; stop it, or choose another file with `state:`/],
])(
  "moor %s refuses to start beside another one on the same files, and starts after it",
  async (words, ready, refusal) => {
    const start = () => {
      const stop = new AbortController();
      const { io, printed } = openTerminal(loop.folder, stop.signal);
      const ended = runMoor(words.split(" "), io);
      return {
        printed,
        ended,
        stop: () => stop.abort(),
        ready: async () => {
          await expect.poll(() => printed.out + printed.err).toMatch(ready);
        },
      };
    };
    const first = start();
    await first.ready();
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.printed.err).toMatch(refusal);
    first.stop();
    expect(await first.ended).toBe(0);
    const third = start();
    await third.ready();
    third.stop();
    expect(await third.ended).toBe(0);
  },
);
