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

const say = (kind: Notice["kind"], key: string, message = "") => lasting.tell({ kind, key, message, fields: {} });
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
