import { expect, it } from "vitest";
import type { PlainRequest } from "../lib/http/plain-request.ts";
import type { Guess } from "./session-throttle.ts";
import { SignInDesk } from "./sign-in-desk.ts";

it("two nodes count wrong passwords together, each once", () => {
  const hearers: ((guess: Guess) => void)[] = [];
  const [here, there] = [0, 1].map((i) => {
    const guesses = {
      tell: (guess: Guess) => hearers[1 - i]?.(guess),
      onHeard: (hear: (guess: Guess) => void) => {
        hearers[i] = hear;
      },
    };
    return new SignInDesk({ entrance: undefined as never, guesses, now: () => 1 });
  }) as [SignInDesk, SignInDesk];
  const delayAt = (at: SignInDesk, from: string) =>
    at.tooMany("main", { from } as PlainRequest)?.headers["retry-after"];
  for (let i = 0; i < 4; i += 1) expect(here.failed("main", "192.0.2.1")).toEqual({});
  expect([here, there].map((at) => delayAt(at, "192.0.2.1"))).toEqual([undefined, undefined]);
  // The first delay, after the fifth.
  expect(there.failed("main", "192.0.2.1")).toEqual({ delayed: 2 });
  expect([here, there].map((at) => delayAt(at, "192.0.2.1"))).toEqual(["2", "2"]);
  expect(delayAt(there, "198.51.100.1")).toBeUndefined();
});
