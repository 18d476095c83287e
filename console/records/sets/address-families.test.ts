import { describe, expect, it } from "vitest";
import { familiesIn } from "./address-families.ts";

/** Which addresses a record form takes for the other family. */

describe("addresses of the other family", () => {
  const draft = (type: "A" | "AAAA" | "TXT", ...texts: readonly string[]) => ({
    ...{ name: "home", type, ttl: "", labels: "" },
    values: texts.map((text, key) => ({ key, texts: [text], comment: "" })),
  });
  it.each([
    ["A with IPv6", draft("A", " 2001:db8::1 "), "AAAA", false, ["AAAA"]],
    ["A with IPv6 and an empty value", draft("A", "", "2001:db8::1"), "AAAA", false, ["AAAA"]],
    ["A with both", draft("A", "192.0.2.1", "2001:db8::1"), "AAAA", true, ["A", "AAAA"]],
    ["AAAA with IPv4", draft("AAAA", "192.0.2.1"), "A", false, ["A"]],
  ] as const)("%s", (_, given, other, isMixed, types) => {
    const families = familiesIn(given);
    expect(families).toMatchObject({ other, isMixed });
    expect(families?.drafts.map(({ type }) => type)).toEqual(types);
  });

  it.each([
    ["A with IPv4", draft("A", "192.0.2.1")],
    ["A with something else", draft("A", "2001:")],
    ["TXT", draft("TXT", "2001:db8::1")],
  ])("none: %s", (_, given) => expect(familiesIn(given)).toBeUndefined());
});
