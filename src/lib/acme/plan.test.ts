import { describe, expect, it } from "vitest";
import { letsEncrypt, namesToOrder, remainingWait, untilOrder, waitAfter } from "./plan.ts";

const day = 86_400_000;
const minute = 60_000;
const issuedOn = Date.UTC(2026, 10, 1);
const issued = {
  directory: letsEncrypt,
  names: ["dns.example.org", "example.org"],
  validFrom: new Date(issuedOn),
  validTo: new Date(issuedOn + 90 * day),
};

describe("untilOrder", () => {
  it.each<[string, Partial<typeof issued> | undefined, Partial<typeof issued>, number, number]>([
    ["there is no certificate", undefined, {}, 0, 0],
    ["it is new", {}, {}, 0, 60 * day],
    ["less than two thirds of its lifetime are over", {}, {}, 59 * day, day],
    ["two thirds of its lifetime are over", {}, {}, 60 * day, 0],
    ["it has expired", {}, {}, 400 * day, 0],
    ["it is valid for only six days", { validTo: new Date(issuedOn + 6 * day) }, {}, 3 * day, day],
    ["it is not valid yet: the clock is behind", {}, {}, -3_000 * day, 3_060 * day],
    ["the names are in another order", {}, { names: ["example.org", "dns.example.org"] }, 0, 60 * day],
    ["a name was added", {}, { names: [...issued.names, "www.example.org"] }, 0, 0],
    ["a name was removed", {}, { names: ["example.org"] }, 0, 0],
    ["another authority is configured", {}, { directory: "https://acme.example.net/" }, 0, 0],
  ])("when %s", (_, has, wants, after, wait) => {
    const found = has && { ...issued, ...has };
    expect(untilOrder(found, { ...issued, ...wants }, new Date(issuedOn + after))).toBe(wait);
  });
});

describe("waitAfter", () => {
  it.each<["refused" | "unavailable", number, number | undefined, number]>([
    ["refused", 1, undefined, 6],
    ["refused", 2, undefined, 12],
    ["refused", 3, undefined, 24],
    ["refused", 20, undefined, 360],
    ["refused", 1, 5, 6],
    ["refused", 1, 90, 90],
    ["refused", 1, 60 * 24 * 365, 60 * 24 * 7],
    ["unavailable", 1, undefined, 1],
    ["unavailable", 3, undefined, 4],
    ["unavailable", 20, undefined, 60],
    ["unavailable", 2_000, undefined, 60],
  ])("%s, %i in a row, Retry-After %s: %i minutes", (kind, failures, asked, minutes) => {
    const retryAfter = asked === undefined ? undefined : asked * minute;
    expect(waitAfter({ kind, retryAfter }, failures, 0) / minute).toBe(minutes);
  });

  it("adds up to a quarter, so that many services do not retry at the same moment", () => {
    expect(waitAfter({ kind: "refused" }, 1, 1)).toBe(7.5 * minute);
  });

  it("asks at most five times in the first hour, as Let's Encrypt allows", () => {
    let [time, attempts] = [0, 1];
    while (time < 60 * minute) {
      time += waitAfter({ kind: "refused" }, attempts, 0);
      if (time < 60 * minute) attempts += 1;
    }
    expect(attempts).toBeLessThanOrEqual(5);
  });
});

describe("askedToWait", () => {
  const now = new Date(issuedOn);
  it.each<[string, string, number, number]>([
    ["for this authority", letsEncrypt, day, day],
    ["that is over", letsEncrypt, -day, 0],
    ["for another authority", "https://acme.example.net/", day, 0],
    ["from when the clock was ahead", letsEncrypt, 3_000 * day, 0],
  ])("a wait %s", (_, directory, until, wait) => {
    expect(remainingWait({ leaveAlone: { directory, until: issuedOn + until } }, letsEncrypt, now)).toBe(wait);
  });

  it("is 0 if the authority has not asked to wait", () => {
    expect(remainingWait({}, letsEncrypt, now)).toBe(0);
  });
});

describe("namesToOrder", () => {
  const given = ["dns.example.org", "*.example.org", "192.0.2.1", "2001:db8::1", "router", "dns.lan", "a.home.arpa"];
  it.each([
    ["for a public authority are those in public DNS", letsEncrypt, ["dns.example.org", "*.example.org"]],
    [
      "for a private authority are all with a dot",
      "https://ca.lan/acme/directory",
      ["dns.example.org", "*.example.org", "dns.lan", "a.home.arpa"],
    ],
  ])("%s", (_, directory, names) => {
    expect(namesToOrder([...given, ...given], directory)).toEqual(names);
  });
});
