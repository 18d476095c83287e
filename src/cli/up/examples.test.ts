import { expect, it } from "vitest";
import { examplesOf } from "./examples.ts";

const trial = {
  folder: "/data",
  configFile: "/my data/updater.yaml",
  tokenFile: "/my data/dns-token",
  keyFile: "/my data/key",
  zone: "home.test",
  name: "host",
  device: "eth0",
  isChosen: false,
  devices: ["eth0"],
  interval: 2_000,
  made: [],
};
const urls = {
  records: "https://127.0.0.1:8053",
  firewall: "https://127.0.0.1:8443",
  dns: { host: "127.0.0.1", port: 5353 },
  caFile: "/my data/ca.pem",
};

it("the commands to try name the files as their reader has to, quoted for a shell", () => {
  const commands = examplesOf(trial, urls, "npx moor", (path) => path).map(({ command }) => command);
  expect(commands).toContain("npx moor record list home.test --config '/my data/updater.yaml'");
  expect(commands).toContain("dig +short @127.0.0.1 -p 5353 host.home.test A host.home.test AAAA");
  const here = examplesOf(trial, urls, "moor", (path) => path.replace("/my data/", ""));
  expect(here.map(({ command }) => command)).toContain("moor record list home.test --config updater.yaml");
});
