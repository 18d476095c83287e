import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDuties, leadAlways } from "./duties.ts";
import { noLog } from "./log.ts";

const log = noLog;

describe("work of the leading node", () => {
  it("is done immediately if there is only one node", async () => {
    const calls: string[] = [];
    const duties = leadAlways(log);
    const withdraw = duties.whenLeading(() => {
      calls.push("begun");
      return () => void calls.push("ended");
    });
    await turn();
    expect(calls).toEqual(["begun"]);
    await withdraw();
    expect(calls).toEqual(["begun", "ended"]);
    await duties.close();
    expect(calls).toHaveLength(2);
  });

  it("is asked to end before `stepDown` returns", async () => {
    const duties = createDuties(log);
    let ended = false;
    duties.whenLeading(() => () => {
      ended = true;
    });
    duties.lead();
    await turn();
    duties.stepDown();
    expect(ended).toBe(true);
  });

  it("continues when other work fails to start or to stop", async () => {
    const duties = createDuties(log);
    let [begun, ended] = [0, 0];
    const fail = () => {
      throw new Error("adrift");
    };
    duties.whenLeading(fail);
    duties.whenLeading(() => fail);
    duties.whenLeading(() => {
      begun += 1;
      return () => {
        ended += 1;
      };
    });
    for (const _ of [1, 2]) {
      duties.lead();
      await turn();
      duties.stepDown();
      await turn();
    }
    await duties.close();
    expect([begun, ended]).toEqual([2, 2]);
  });

  it("never runs twice at the same time, however often the lead changes", async () => {
    const step = fc.constantFrom("lead", "stepDown", "wait");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const duties = createDuties(log);
        let [running, most] = [0, 0];
        duties.whenLeading(() => {
          running += 1;
          most = Math.max(most, running);
          return async () => {
            await turn();
            running -= 1;
          };
        });
        for (const each of steps) {
          if (each === "wait") await turn();
          else duties[each]();
        }
        const leads = duties.isLeading();
        for (let i = 0; i < 60; i++) await turn();
        expect(running).toBe(leads ? 1 : 0);
        expect(most).toBeLessThanOrEqual(1);
        await duties.close();
        expect(running).toBe(0);
      }),
      { numRuns: 200, examples: [[["lead", "wait", "lead", "stepDown", "lead"]]] },
    );
  });
});
