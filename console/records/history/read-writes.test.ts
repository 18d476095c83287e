import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Request } from "../../shared/live/request.ts";
import { filterIn, readWrites } from "./read-writes.ts";

/** What the filter of a history asks the service for, tested without a browser. */

beforeAll(() => void vi.stubEnv("TZ", "America/New_York"));
afterAll(() => void vi.unstubAllEnvs());

it.for([
  ["nothing", "", {}],
  ["a part of a name", "name=bulk8", { name: "bulk8" }],
  ["a whole name", "name=bulk8.large.example", { name: "bulk8", whole: "" }],
  ["a whole name with a final dot", "name=Bulk8.Large.example.", { name: "bulk8", whole: "" }],
  ["the name of the zone", "name=large.example", { name: "@", whole: "" }],
  ["a name in Unicode", "name=Straße", { name: "xn--strae-oqa" }],
  ["a type", "type=TXT", { type: "TXT" }],
  ["a person or token", "who=+router+at+home+", { who: "router at home" }],
  ["a day, to its end where the reader is", "until=2026-11-17", { until: "2026-11-18T04:59:59.999Z" }],
  ["a day that is none", "until=soon", { until: "" }],
] as const)("asks for %s", async ([, query, expected]) => {
  const asked: string[] = [];
  const request = (async (_method, path) => asked.push(path)) as Request;
  await readWrites(request, "large.example", filterIn(new URLSearchParams(query)), 7);
  const [path, sent] = asked[0]?.split("?") ?? [];
  expect(path).toBe("/console/zones/large.example/writes");
  expect(Object.fromEntries(new URLSearchParams(sent))).toEqual({
    ...{ type: "", who: "", name: "", until: "", before: "7" },
    ...expected,
  });
});
