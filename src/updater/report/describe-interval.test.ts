import { expect, test } from "vitest";
import type { SourceConfig } from "../config/kinds.ts";
import { describeInterval } from "./describe-interval.ts";

const firewall = { name: "home", kind: "firewall" };
const router = { name: "router", kind: "openwrt" };
const web = (every: number) => ({ name: "web", kind: "web", every });

test.each<[string, readonly SourceConfig[], string]>([
  ["a source that pushes", [firewall], "checks immediately when the firewall pushes a change, otherwise every 30 s"],
  ["a firewall whose gateways are read", [{ ...firewall, gateways: true } as SourceConfig], "checks every 30 s"],
  ["a firewall whose overview is read", [{ ...firewall, report: "overview" } as SourceConfig], "checks every 30 s"],
  ["a source that is polled", [router], "checks every 30 s"],
  ["a source with its own interval", [web(300_000)], "checks every 300 s"],
  ["a source with its own interval, which is shorter", [web(10_000)], "checks every 10 s"],
  ["several sources", [router, web(300_000)], "checks every 30 s; web every 300 s"],
  [
    "several sources, one of which pushes",
    [firewall, web(60_000)],
    "checks immediately when the firewall pushes a change, otherwise every 30 s; web every 60 s",
  ],
])("the interval of %s", (_, sources, words) => {
  const config = { interval: 30_000, sources: new Map(sources.map((source) => [source.name, source])) };
  expect(describeInterval(config)).toBe(words);
});
