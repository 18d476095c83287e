import { describe, expect, it } from "vitest";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { doubtOf } from "./doubtful-text.ts";
import { joinValue, splitValue } from "./value-fields.ts";

/** Texts as people copy them from a provider's page. */

const key = `v=DKIM1; p=${"A".repeat(300)}`;
const cut = `"${key.slice(0, 255)}" "${key.slice(255)}"`;

describe("a text that is pasted into a TXT record", () => {
  it.for([
    ["in quotes and too long for one string", `"${key}"`, cut],
    ["in brackets and too long for one string", `( "${key}" )`, cut],
    ["in strings of which one is too long", `"a" "${key}"`, `"a" ${cut}`],
    ["in strings that touch", '"a""b"', '"a""b"'],
    ["with blanks around it", " v=spf1 -all ", '"v=spf1 -all"'],
    ["with blanks that are meant", '" v=spf1 -all "', '" v=spf1 -all "'],
  ] as const)("is stored as intended: %s", ([, typed, value]) => {
    expect(joinValue("TXT", [typed])).toBe(value);
    expect(parseRdata("TXT", value, "example.org").ok).toBe(true);
  });

  it("keeps the spaces at its ends when it is opened again", () => {
    expect(splitValue("TXT", '"v=spf1 -all "')).toEqual(['"v=spf1 -all "']);
  });

  it.for([
    ['mail._domainkey IN TXT ( "v=DKIM1; " "p=AB" ) ; ----- DKIM key', "whole line"],
    ['@ 300 TXT "v=spf1 -all"', "whole line"],
    ["“v=spf1 -all”", "quotes"],
    ['"v=spf1 -all', "quotes"],
    ['v=spf1 -all"', "quotes"],
    ["'v=spf1 -all'", "quotes"],
    ["v=DKIM1\\; k=rsa\\; p=AB", "backslashes"],
  ] as const)("causes a warning if it may be meant differently: %s", ([typed, warning]) => {
    expect(doubtOf("TXT", [typed])).toContain(warning);
  });

  it.for(["", "v=spf1 -all", '"v=spf1 -all"', '( "a" "b" )', '"a\\;b"', "it's Mona's", "TXT records"])(
    "causes no warning if it is unambiguous: %s",
    (typed) => {
      expect(doubtOf("TXT", [typed])).toBeUndefined();
    },
  );

  it("matters only for TXT records", () => {
    expect(doubtOf("CNAME", ['"a'])).toBeUndefined();
  });
});
