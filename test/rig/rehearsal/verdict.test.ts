import { expect, test } from "vitest";
import { rcodes } from "../../../src/lib/dns/codes.ts";
import { verdictOn } from "./verdict.ts";

const question = { name: "www.example.org", type: 1 };
const [secure, insecure, failure] = [
  { rcode: rcodes.noError, authenticData: true },
  { rcode: rcodes.noError, authenticData: false },
  { rcode: rcodes.servFail, authenticData: false },
];

test.each([
  ["validated", [secure], [], "secure", 0],
  ["not signed", [insecure], [], "insecure", 0],
  ["rejected every time, but there without validation", [failure], [insecure], "bogus", 3],
  ["not answered at all", [failure], [failure], "failed", 3],
  ["rejected once, because a query of the resolver timed out", [failure, secure], [insecure], "secure", 1],
  ["not answered once", [failure, insecure], [failure], "insecure", 1],
  ["no reply once", [undefined, secure], [insecure], "secure", 1],
  ["never a reply", [undefined], [insecure], "failed", 3],
  ["rejected, and no reply without validation", [failure], [undefined], "failed", 3],
  ["rejected, then not answered", [failure], [insecure, insecure, failure], "failed", 3],
] as const)("%s", async (_, checked, unchecked, verdict, forgotten) => {
  const [asked, askedUnchecked, forgets] = [checked.values(), unchecked.values(), { count: 0 }];
  const next = <T>(replies: Iterator<T>, all: readonly T[]) => {
    const { done, value } = replies.next();
    return done === true ? all.at(-1) : value;
  };
  const judge = {
    ask: async () => next(asked, checked),
    askUnchecked: async () => next(askedUnchecked, unchecked),
    forget: async () => void forgets.count++,
  };
  expect([await verdictOn(question, judge), forgets.count]).toEqual([verdict, forgotten]);
});
