import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LastingTrouble, onlyLasting } from "./lasting-trouble.ts";
import type { Notice } from "./reporter.ts";

const patience = 60;
let reported: string[];
let lasting: LastingTrouble;
beforeEach(() => {
  vi.useFakeTimers();
  reported = [];
  lasting = onlyLasting(({ kind, key, message }) => void reported.push(`${kind} ${key} ${message}`), patience);
});
afterEach(() => {
  lasting.close();
  vi.useRealTimers();
});

const say = (kind: Notice["kind"], key: string, message = "") => lasting.notify({ kind, key, message, fields: {} });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("trouble that lasts", () => {
  it("is reported after it has lasted, in its latest form, and so is its end", async () => {
    say("failing", "fw", "refused");
    say("failing", "fw", "no answer");
    expect(reported).toEqual([]);
    await pass(patience);
    say("over", "fw");
    expect(reported).toEqual(["failing fw no answer", "over fw "]);
  });

  it("is reported again immediately when its cause changes", async () => {
    say("failing", "fw", "refused");
    await pass(patience);
    say("failing", "fw", "wrong key");
    expect(reported).toEqual(["failing fw refused", "failing fw wrong key"]);
  });
});

describe("trouble that is over soon, such as a service restart", () => {
  it("is not reported, and neither is its end", async () => {
    say("failing", "fw");
    say("over", "fw");
    await pass(2 * patience);
    expect(reported).toEqual([]);
  });

  it("does not hide trouble elsewhere, or the next one of the same kind", async () => {
    say("failing", "fw");
    say("failing", "dns");
    say("over", "fw");
    await pass(patience);
    say("failing", "fw");
    await pass(patience);
    expect(reported).toEqual(["failing dns ", "failing fw "]);
  });
});

it("what was done is reported immediately", () => {
  say("done", "home", "replaced");
  expect(reported).toEqual(["done home replaced"]);
});

it("nothing is reported after it is closed", async () => {
  say("failing", "fw");
  lasting.close();
  await pass(2 * patience);
  expect(reported).toEqual([]);
});

describe("an outage that affects many names", () => {
  let notices: Notice[];
  beforeEach(() => {
    notices = [];
    lasting.close();
    lasting = onlyLasting((notice) => void notices.push(notice), patience);
  });
  const notify = (kind: Notice["kind"], n: number, cause = "service dns", because = "nothing listens") =>
    lasting.notify({ kind, key: `k${n}`, cause, message: "record not replaced", fields: { name: `n${n} A`, because } });
  const all = (kind: Notice["kind"], ...more: string[]) => {
    for (let n = 1; n <= 30; n++) notify(kind, n, ...more);
  };

  it("is one notice with the number and a few of the names, and its end is one notice", async () => {
    all("failing");
    await pass(patience);
    expect(notices).toMatchObject([
      {
        kind: "failing",
        message: "record not replaced",
        fields: {
          name: "n1 A and 29 more",
          records: "30",
          because: "nothing listens",
          names: "n1 A, n2 A, n3 A, n4 A, n5 A and 25 more",
        },
      },
    ]);
    all("over");
    expect(notices.slice(1)).toMatchObject([{ kind: "over", message: "the problem with 30 records is over" }]);
  });

  it("has not ended while one name still fails, and includes names that fail later", async () => {
    notify("failing", 1);
    await pass(patience);
    notify("failing", 2, "service dns", "no answer within 15 s");
    notify("over", 1);
    notify("failing", 3);
    notify("over", 2);
    expect(notices.length).toBe(1);
    notify("over", 3);
    expect(notices.slice(1)).toMatchObject([{ kind: "over", fields: { records: "3" } }]);
  });

  it("whose cause changes is reported again, and ends once", async () => {
    all("failing");
    await pass(patience);
    all("failing", "token", "wrong token");
    expect(notices.map(({ kind, fields }) => [kind, fields.because])).toEqual([
      ["failing", "nothing listens"],
      ["failing", "wrong token"],
    ]);
    all("over");
    expect(notices.slice(2)).toMatchObject([{ kind: "over", message: "the problem with 30 records is over" }]);
  });

  it("is not reported when it is over soon, and two services mean two outages", async () => {
    all("failing");
    notify("failing", 31, "service other");
    all("over");
    await pass(patience);
    expect(notices).toMatchObject([{ kind: "failing", fields: { name: "n31 A" } }]);
  });

  it("does not count names that recovered before the notice", async () => {
    all("failing");
    for (let n = 4; n <= 30; n++) notify("over", n);
    await pass(patience);
    expect(notices).toMatchObject([{ fields: { records: "3", names: "n1 A, n2 A, n3 A" } }]);
  });

  it("forgets names that are gone, and notifies nobody of their end", async () => {
    all("failing");
    await pass(patience);
    lasting.forget((key) => key !== "k7");
    all("over");
    expect(notices.length).toBe(2);
  });
});
