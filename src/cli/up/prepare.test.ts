import { expect, test } from "vitest";
import { currentConfig } from "./prepare.ts";

const mine = `interval: 5s # mine
sources:
  this-machine: { url: https://127.0.0.1:8443, keyFile: firewall-key.txt } # the wall
targets:
  this-machine:
    url: "https://127.0.0.1:8053"
names:
  # the first
  - { name: here, zone: home.test, ipv4: eth0, ipv6: [eth0, wlan0] }
  - { name: mine, zone: home.test, ipv4: eth0 }
`;
const trial = { name: "here", zone: "home.test", device: "wlan0", isChosen: false, devices: ["lo", "eth0", "wlan0"] };
const urls = { firewall: "https://127.0.0.1:8443", records: "https://127.0.0.1:8053" };

test.each([
  ["nothing, if nothing has changed", trial, urls, mine],
  [
    "the port of a service",
    trial,
    { ...urls, records: "https://127.0.0.1:9999" },
    mine.replace("https://127.0.0.1:8053", "https://127.0.0.1:9999"),
  ],
  ["the interface that was chosen", { ...trial, isChosen: true }, urls, mine.replace("eth0, ipv6", "wlan0, ipv6")],
  [
    "an interface that is gone",
    { ...trial, devices: ["lo", "wlan0"] },
    urls,
    mine.replace("eth0, ipv6", "wlan0, ipv6"),
  ],
  ["nothing, if the name is that of another machine", { ...trial, name: "there", isChosen: true }, urls, mine],
])("a later start of moor up changes %s", (_, now, at, after) => expect(currentConfig(mine, now, at)).toBe(after));

test("a later start of moor up leaves a config alone if it finds none of its settings there", () => {
  for (const text of ["", "names: []\n", "# only a comment\n"]) expect(currentConfig(text, trial, urls)).toBe(text);
});
