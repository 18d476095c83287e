import { describe, expect, it } from "vitest";
import type { Request } from "../shared/live/request.ts";
import { findZones } from "./api.ts";

/** Which zones are listed for a text, tested without a browser. */

const names = ["harbour.example", "tide-tables.example", "xn--mnchen-3ya.test"];
const perPage = 50;

/** As the service does: it searches names in ASCII. */
const serviceWith = (zones: readonly string[]): Request =>
  (async (_method, path) => {
    const query = new URLSearchParams(path.split("?")[1]);
    const found = zones.filter((name) => name.includes(query.get("search") ?? ""));
    const page = Number(query.get("page"));
    return {
      zones: found.slice((page - 1) * perPage, page * perPage).map((name) => ({ name })),
      meta: { pagination: { page, last_page: Math.max(1, Math.ceil(found.length / perPage)) } },
    };
  }) as Request;
const found = async (text: string, page = 1, zones: readonly string[] = names) =>
  (await findZones(serviceWith(zones), text, page)).zones.map(({ name }) => name);

it.for([
  ["", names],
  ["tide", ["tide-tables.example"]],
  ["tide-tables.example.", ["tide-tables.example"]],
  ["TIDE", ["tide-tables.example"]],
  ["MÜNCHEN.test", ["xn--mnchen-3ya.test"]],
  ["münch", ["xn--mnchen-3ya.test"]],
  ["nchen.t", ["xn--mnchen-3ya.test"]],
  ["xn--m", ["xn--mnchen-3ya.test"]],
  ["zeppelin", []],
] as const)("the zones for %j", async ([text, expected]) => {
  expect(await found(text)).toEqual(expected);
});

describe("a page of the list that does not exist", () => {
  const many = Array.from({ length: 120 }, (_, i) => `zone${i}.example`);
  it("is the last one", async () => {
    expect(await found("", 99, many)).toEqual(many.slice(100));
    expect(await found("", 99, [])).toEqual([]);
  });
});
