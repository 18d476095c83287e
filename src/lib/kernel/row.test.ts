import { describe, expect, it } from "vitest";
import { parseKernelRows } from "./row.ts";

describe("parseKernelRows", () => {
  it.each([
    ["nothing", ""],
    ["text", "Cannot open netlink socket"],
    ["truncated output", '[{"ifname":"eth0"'],
    ["an object", '{"ifname":"eth0"}'],
    ["null", "null"],
    ["a device without a name", '[{"flags":[],"addr_info":[]}]'],
    ["a device without its addresses", '[{"ifname":"eth0","flags":[]}]'],
    ["a device that is a list", "[[]]"],
    ["a device whose flags are text", '[{"ifname":"eth0","flags":"UP","addr_info":[]}]'],
    ["an empty list", "[]"],
    ["a list of gaps", "[{},{}]"],
    ["an address without its text", '[{"ifname":"eth0","flags":[],"addr_info":[{"family":"inet"}]}]'],
    ["an address that is a number", '[{"ifname":"eth0","flags":[],"addr_info":[{"family":"inet","local":1}]}]'],
  ])("refuses %s", (_, text) => {
    expect(() => parseKernelRows(text)).toThrow(/JSON|not a list of devices/);
  });

  const good = '{"ifname":"eth0","flags":["UP"],"addr_info":[]}';
  it.each([
    ["the gap of a device that has just disappeared", "{}"],
    ["a device without a name", '{"flags":[],"addr_info":[]}'],
    ["a device without its addresses", '{"ifname":"odd","flags":[]}'],
    ["a device with an address that cannot be read", '{"ifname":"odd","flags":[],"addr_info":[{"family":"inet"}]}'],
    ["a number", "7"],
  ])("skips %s", (_, odd) => {
    for (const text of [`[${odd},${good}]`, `[${good},${odd}]`])
      expect(parseKernelRows(text)).toEqual([JSON.parse(good)]);
  });

  it.each([
    ["its MTU is text", '"mtu":"1500"', {}],
    [
      "its kind is a number",
      '"linkinfo":{"info_kind":1,"info_slave_kind":"bond"}',
      { linkinfo: { info_slave_kind: "bond" } },
    ],
    ["its counters are a list", '"stats64":[]', {}],
  ])("reads the rest of a device if %s", (_, field, more) => {
    const text = `[{"ifname":"eth0","flags":[],${field},"addr_info":[]}]`;
    expect(parseKernelRows(text)).toEqual([{ ifname: "eth0", flags: [], addr_info: [], ...more }]);
  });

  it.each([
    ["control characters", "a\u0001\u001bb", "a\u0001\u001bb"],
    ["characters that `ip` escapes", 'a\\n\\"\\\\', 'a\n"\\'],
    ["an apostrophe after a backslash", "it\\'s", "it's"],
    ["a backslash before a control character", "a\\\\\u0001", "a\\\u0001"],
  ])("reads a name or alias with %s", (_, printed, name) => {
    const text = `[{"ifname":"${printed}","flags":[],"ifalias":"${printed}","addr_info":[]},\n${good}]\n`;
    expect(parseKernelRows(text).map(({ ifname }) => ifname)).toEqual([name, "eth0"]);
  });
});
