import { expect, it } from "vitest";
import { readInterfaceReport } from "./read-interface-report.ts";

it("makes control characters of the firewall harmless for the terminal", () => {
  const ruling = "\u001b[2J\u0007boo\nnext\u009b1m\u202e";
  const shown = "\\u{1b}[2J\\u{7}boo\\u{a}next\\u{9b}1m\\u{202e}";
  const body = JSON.stringify({
    [ruling]: { ipv4: [] },
    wän0: { ipv4: [{ ipaddr: ruling }], ipv6: [{ ipaddr: "9".repeat(5_000) }] },
  });
  const read = readInterfaceReport(body);
  if (read.kind !== "report") throw new Error(read.because);
  expect([...read.report.keys()]).toEqual([shown, "wän0"]);
  expect(read.report.get("wän0")?.ipv4).toEqual([{ text: shown }]);
  expect(read.report.get("wän0")?.ipv6[0]?.text).toBe(`${"9".repeat(100)}…`);
});

it("makes control characters harmless in the text of a fault too", () => {
  expect(readInterfaceReport('{"\\u001b[2J":7}')).toEqual({
    kind: "unreadable",
    because: "the firewall's answer is malformed: \\u{1b}[2J is not an object",
  });
});

it.each([
  ["a PPPoE line, which has no status", { flags: ["up"] }, true],
  ["a card with a link", { flags: ["up"], status: "active" }, true],
  ["a wireless card with a link", { flags: ["up"], status: "associated" }, true],
  ["a card that is switched on, but has no cable", { flags: ["up"], status: "no carrier" }, false],
  ["a card that is switched off", { flags: [], status: "no carrier" }, false],
  ["an interface that reports neither", {}, undefined],
])("reads whether an interface is up: %s", (_, reported, up) => {
  const read = readInterfaceReport(JSON.stringify({ wan0: reported }));
  expect(read.kind === "report" && read.report.get("wan0")?.up).toBe(up);
});
