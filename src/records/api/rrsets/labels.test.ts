import { describe, expect, it, test } from "vitest";
import { areTrueOf, readLabels, readSelector } from "./labels.ts";

const long = (length: number) => "x".repeat(length);

describe("labels", () => {
  test.each<[string, unknown]>([
    ["none", {}],
    ["an empty value", { env: "" }],
    ["a key with a prefix", { "example.org/env": "prod" }],
    ["all characters that are allowed in the middle", { "a-b_c.D": "a-b_c.D" }],
    ["the longest key and value", { [long(63)]: long(63) }],
    ["the longest prefix", { [`${`${long(62)}.`.repeat(4)}y/env`]: "x" }],
    ["the maximum number", Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`k${i}`, "v"]))],
  ])("are accepted unchanged: %s", (_, labels) => expect(readLabels(labels)).toEqual({ ok: true, value: labels }));

  test.each<[string, unknown, string]>([
    ["a list", ["env"], "labels"],
    ["nothing", null, "labels"],
    ["a string", "env=prod", "labels"],
    ["one too many", Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, "v"])), "labels"],
    ["an empty key", { "": "x" }, "labels."],
    ["a key that ends in a hyphen", { "env-": "x" }, "labels.env-"],
    ["a key that is too long", { [long(64)]: "x" }, `labels.${long(64)}`],
    ["a prefix that is not a DNS name", { "Example/env": "x" }, "labels.Example/env"],
    ["a prefix that is too long", { [`${`${long(62)}.`.repeat(4)}yy/env`]: "x" }, `labels.${long(62)}.${long(17)}`],
    ["a prefix of the vendor", { "hetzner.cloud/env": "x" }, "labels.hetzner.cloud/env"],
    ["a value with a blank", { env: "a b" }, "labels.env"],
    ["a value that is too long", { env: long(64) }, "labels.env"],
    ["a value that is not a string", { env: 7 }, "labels.env"],
  ])("%s is refused", (_, labels, where) => expect(readLabels(labels)).toMatchObject({ faults: [{ where }] }));

  test.each<[string, unknown, string]>([
    [
      "a prefix that is not a DNS name",
      { "Example/env": "x" },
      "a prefix, if any, is a DNS name in lower case, followed by '/'",
    ],
    ["a value with a blank", { env: "a b" }, "use at most 63 letters, digits"],
    ["a value that is not a string", { env: 7 }, "send it as a string, in quotes"],
  ])("%s: the fault says what to do", (_, labels, todo) => {
    expect(readLabels(labels)).toMatchObject({ faults: [{ todo: expect.stringContaining(todo) }] });
  });

  it("report all faults together", () => {
    expect(readLabels({ "a b": "x", env: "a b" })).toMatchObject({ faults: [{}, {}] });
  });
});

describe("a selector", () => {
  const labels = { env: "prod", "example.org/team": "a", empty: "" };

  test.each([
    ["env", true],
    ["other", false],
    ["!other", true],
    ["!env", false],
    ["env=prod", true],
    ["env == prod", true],
    ["env=test", false],
    ["empty=", true],
    ["env!=test", true],
    ["env!=prod", false],
    ["other!=prod", false],
    ["env in (test, prod)", true],
    ["env in (test)", false],
    ["other in (test)", false],
    ["env notin (test)", true],
    ["env notin (test,prod)", false],
    ["other notin (test)", false],
    ["example.org/team=a", true],
    ["env=prod,empty", true],
    ["env=prod, other", false],
    ["env in (prod,test),!other", true],
    ["constructor", false],
  ])("%s: %s", (text, holds) => {
    const selector = readSelector(text);
    expect(selector.ok && areTrueOf(selector.value, labels)).toBe(holds);
  });

  test.each([
    "",
    ",",
    "env,",
    ",env",
    "env=a b",
    "env in prod",
    "env in (a b)",
    "env in (a",
    "env in a)",
    "=prod",
    `${"a,".repeat(1_000)}a`,
  ])("%s is invalid", (text) => expect(readSelector(text).ok).toBe(false));
});
