import { expect, it } from "vitest";
import { noLog } from "../../process/log.ts";
import type { Round, UpdateResult } from "../round/result.ts";
import type { TargetFault } from "../targets/target.ts";
import { type Notice, Reporter } from "./reporter.ts";

const failed = (name: string, fault: Pick<TargetFault, "because" | "ofService">) =>
  ({
    record: { key: name, displayName: `${name} A`, source: "home", target: "dns", rules: {}, spec: {} },
    choice: { kind: "chosen", address: { text: "81.2.69.1" } },
    plan: { kind: "replace", address: { text: "81.2.69.1" } },
    outcome: { kind: "unknown", fault: { kind: "later", todo: "wait", ...fault } },
  }) as unknown as UpdateResult;

function causesOf(...changed: readonly UpdateResult[]): readonly (string | undefined)[] {
  const notices: Notice[] = [];
  const reporter = new Reporter(noLog, (notice) => void notices.push(notice));
  reporter.report({ changed, readings: new Map(), rateLimitedUntil: new Map() } as unknown as Round);
  return notices.map(({ cause }) => cause);
}

it("names that fail because their whole service does have one cause, although each message names its record", () => {
  const fault = (name: string) => ({ because: `the query for ${name} was answered with SERVFAIL`, ofService: true });
  expect(causesOf(failed("a", fault("a")), failed("b", fault("b")))).toEqual(["service dns", "service dns"]);
});

it("a name that fails alone has its own cause", () => {
  const causes = causesOf(failed("a", { because: "a is locked" }), failed("b", { because: "b is locked" }));
  expect(causes).toEqual(["service dns a is locked", "service dns b is locked"]);
});
