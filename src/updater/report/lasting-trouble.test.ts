import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../test/rig/until.ts";
import { type LastingTrouble, onlyLasting } from "./lasting-trouble.ts";
import type { Notice } from "./reporter.ts";

const patience = 60;
let told: string[];
let lasting: LastingTrouble;
beforeEach(() => {
  told = [];
  lasting = onlyLasting(({ kind, key, message }) => void told.push(`${kind} ${key} ${message}`), patience);
});
afterEach(() => lasting.close());

const say = (kind: Notice["kind"], key: string, message = "") => lasting.notify({ kind, key, message, fields: {} });
const pass = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe("trouble that lasts", () => {
  it("is told when it has lasted, as it is then, and so is its end", async () => {
    say("failing", "fw", "refused");
    say("failing", "fw", "no answer");
    expect(told).toEqual([]);
    await until(() => told.length > 0);
    say("over", "fw");
    expect(told).toEqual(["failing fw no answer", "over fw "]);
  });

  it("is told again at once when it becomes another one", async () => {
    say("failing", "fw", "refused");
    await until(() => told.length > 0);
    say("failing", "fw", "wrong key");
    expect(told).toEqual(["failing fw refused", "failing fw wrong key"]);
  });
});

describe("trouble that is over soon, as when a service is restarted", () => {
  it("is not told, nor its end", async () => {
    say("failing", "fw");
    say("over", "fw");
    await pass(2 * patience);
    expect(told).toEqual([]);
  });

  it("does not hide that of another, nor the next of the same", async () => {
    say("failing", "fw");
    say("failing", "dns");
    say("over", "fw");
    await until(() => told.length > 0);
    say("failing", "fw");
    await until(() => told.length > 1);
    expect(told).toEqual(["failing dns ", "failing fw "]);
  });
});

it("what was done is told at once", () => {
  say("done", "home", "replaced");
  expect(told).toEqual(["done home replaced"]);
});

it("nothing is told any more when it is closed", async () => {
  say("failing", "fw");
  lasting.close();
  await pass(2 * patience);
  expect(told).toEqual([]);
});

describe("an outage that concerns many names", () => {
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

  it("is one notice that says how many and a few of them, and its end is one", async () => {
    all("failing");
    await until(() => notices.length > 0);
    expect(notices).toMatchObject([
      {
        ...{ kind: "failing", message: "record not replaced" },
        fields: {
          ...{ name: "n1 A and 29 more", records: "30", because: "nothing listens" },
          names: "n1 A, n2 A, n3 A, n4 A, n5 A and 25 more",
        },
      },
    ]);
    all("over");
    expect(notices.slice(1)).toMatchObject([{ kind: "over", message: "the problem with 30 records is over" }]);
  });

  it("has not ended while one name still fails, and takes in those that come later", async () => {
    notify("failing", 1);
    await until(() => notices.length > 0);
    notify("failing", 2, "service dns", "no answer within 15 s");
    notify("over", 1);
    notify("failing", 3);
    notify("over", 2);
    expect(notices.length).toBe(1);
    notify("over", 3);
    expect(notices.slice(1)).toMatchObject([{ kind: "over", fields: { records: "3" } }]);
  });

  it("that becomes another one is told once more, and ends once", async () => {
    all("failing");
    await until(() => notices.length > 0);
    all("failing", "token", "wrong token");
    expect(notices.map(({ kind, fields }) => [kind, fields.because])).toEqual([
      ["failing", "nothing listens"],
      ["failing", "wrong token"],
    ]);
    all("over");
    expect(notices.slice(2)).toMatchObject([{ kind: "over", message: "the problem with 30 records is over" }]);
  });

  it("is not told when it is over soon, and those of two services are two", async () => {
    all("failing");
    notify("failing", 31, "service other");
    all("over");
    await until(() => notices.length > 0);
    expect(notices).toMatchObject([{ kind: "failing", fields: { name: "n31 A" } }]);
  });

  it("does not count what was over before it was told", async () => {
    all("failing");
    for (let n = 4; n <= 30; n++) notify("over", n);
    await until(() => notices.length > 0);
    expect(notices).toMatchObject([{ fields: { records: "3", names: "n1 A, n2 A, n3 A" } }]);
  });

  it("forgets names that are gone, and notifies nobody of their end", async () => {
    all("failing");
    await until(() => notices.length > 0);
    lasting.forget((key) => key !== "k7");
    all("over");
    expect(notices.length).toBe(2);
  });
});
