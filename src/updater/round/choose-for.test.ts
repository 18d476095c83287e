import { describe, expect, it, test } from "vitest";
import { reportConnection } from "../sources/only-connection.ts";
import type { SourceReading } from "../sources/source.ts";
import { chooseFor } from "./choose-for.ts";
import type { ManagedRecord } from "./managed-records.ts";

const record: ManagedRecord = {
  key: "k",
  displayName: "home.example.org A",
  family: "ipv4",
  target: "dns",
  choiceKey: "",
  rules: {},
  source: "a",
  kindLabel: "source",
  policy: { devices: ["internet"], family: "ipv4" },
  furtherSources: ["b", "c"].map((source) => ({ source, kindLabel: "source", devices: ["internet"] })),
  spec: { zone: "example.org", name: "home", family: "ipv4" },
};

/**
 * `-` has not answered, `!` cannot be read, `?` knows nothing about IPv4, `x` has no interface, empty has no address.
 */
function readingOf(word: string): SourceReading | undefined {
  if (word === "-") return undefined;
  if (word === "!") return { kind: "unavailable", because: "it is down", todo: "start it" };
  if (word === "x") return { kind: "report", report: new Map() };
  const report = reportConnection(word === "" || word === "?" ? [] : [word.replace(" down", "")], []);
  if (word === "?") return { kind: "report", report, unknown: { ipv4: { because: "they disagree", todo: "wait" } } };
  const [[device, each] = []] = [...report];
  if (word.endsWith(" down") && device && each)
    return { kind: "report", report: new Map([[device, { ...each, up: false }]]) };
  return { kind: "report", report };
}

function choose(words: readonly string[], agree?: number) {
  const readings = new Map(
    words.flatMap((word, at) => {
      const reading = readingOf(word);
      return reading ? [["abc"[at] ?? "", reading] as const] : [];
    }),
  );
  const chosen = chooseFor(agree === undefined ? record : { ...record, agree }, readings, []);
  const { choice, source, passedOver, trouble } = chosen;
  const text = choice.kind === "address" ? choice.address.text : choice.kind;
  return [text, source, passedOver.map((each) => `${each.source} ${each.because}`).join(", "), trouble?.because ?? ""];
}

const [one, two] = ["9.9.9.1", "9.9.9.2"];

describe("of several sources in order", () => {
  test.each<[string, string[], string, string, string, string?]>([
    ["the first is used", [one, two, two], one, "a", ""],
    ["the first is used before the others have answered", [one, "-", "-"], one, "a", ""],
    ["the second, if the first cannot be read", ["!", two, "-"], two, "b", "a unreadable"],
    ["the second, if the first does not know this family", ["?", two, "-"], two, "b", "a unreadable"],
    ["the second, if the first has no address", ["", two, "-"], two, "b", "a no-fit-address"],
    ["the second, if the first is down", [`${one} down`, two, "-"], two, "b", "a down"],
    ["the third, if the others have no address", ["!", "", one], one, "c", "a unreadable, b no-fit-address"],
    ["nothing is decided before the first has answered", ["-", two, two], "unknown", "a", ""],
    ["nothing is decided before the second has answered", ["!", "-", two], "unknown", "b", ""],
    ["none, if none has an address", ["!", "", "x"], "none", "b", "a unreadable, b no-fit-address, c not-there"],
    [
      "a missing interface is reported if the others cannot be read",
      ["!", "!", "x"],
      "unknown-interface",
      "c",
      "a unreadable, b unreadable, c not-there",
      "the source c has no interface internet",
    ],
    ["all fail", ["!", "!", "?"], "unknown", "a", "a unreadable, b unreadable, c unreadable", "it is down"],
  ])("%s", (_, words, text, source, passedOver, trouble = "") => {
    expect(choose(words)).toEqual([text, source, passedOver, trouble]);
  });
});

describe("of several sources of which two must agree", () => {
  test.each<[string, string[], string, string?]>([
    ["two agree", [one, one, two], one],
    ["two agree before the third has answered", [one, "-", one], one],
    ["two agree while the third cannot be read", [two, "!", two], two],
    ["nothing is decided while one could still agree", [one, two, "-"], "unknown"],
    [
      "all differ",
      [one, two, "9.9.9.3"],
      "unknown",
      "2 of the sources must agree on one address: a reports 9.9.9.1, b reports 9.9.9.2, c reports 9.9.9.3",
    ],
    [
      "only one has an address",
      [one, "!", ""],
      "unknown",
      "2 of the sources must agree on one address: a reports 9.9.9.1, b cannot be read, c has no usable address",
    ],
  ])("%s", (_, words, text, trouble = "") => {
    const [chosen, , , because] = choose(words, 2);
    expect([chosen, because]).toEqual([text, trouble]);
  });

  it("agreement on an unusable address does not count", () => {
    expect(choose(["127.0.0.1", "127.0.0.1", one], 2)[0]).toBe("unknown");
  });
});
