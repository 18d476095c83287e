import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";
import { readCount, readHosts, readLinks, readMailbox, readValueCount, readWorkers } from "./options.ts";

describe("--dns-workers", () => {
  it.each([
    ["0", 0],
    ["2", 2],
    ["64", 64],
  ])("takes %s", (text, count) => {
    expect(readWorkers(text)).toBe(count);
  });

  it.each(["", "-1", "1.5", "two", "65", "100", "0x2"])("refuses %j, and says what is valid", (text) => {
    expect(() => readWorkers(text)).toThrow("0 to 64");
  });
});

describe("a count, for --last and --most", () => {
  it("is a whole number from 1", () => {
    expect([readCount("1"), readCount("99999")]).toEqual([1, 99_999]);
  });

  it.each(["", "0", "-1", "1.5", "ten", "100000"])("is not %j", (text) => {
    expect(() => readCount(text)).toThrow("1 to 99999");
  });
});

describe("--values-per-set", () => {
  it("is a whole number from 1 to 2500", () => {
    expect([readValueCount("1"), readValueCount("2500")]).toEqual([1, 2_500]);
  });

  it.each(["", "0", "-1", "1.5", "off", "2501", "1e3"])("is not %j", (text) => {
    expect(() => readValueCount(text)).toThrow("1 to 2500");
  });
});

describe("--link, for the switcher of the pages", () => {
  it("takes a service and the URL of its pages", () => {
    const url = "https://router.example:8443";
    expect(readLinks(`firewall=${url}`, [])).toEqual([{ service: "firewall", url, together: false }]);
    expect(readLinks(`dns=${url}`, [])).toEqual([{ service: "records", url, together: false }]);
  });

  it.each(["", "firewall", "firewall=", "firewall=router", "router=https://a.example", "dns=javascript:alert(1)"])(
    "refuses %j, and says what is valid",
    (text) => {
      expect(() => readLinks(text, [])).toThrow("such as firewall=https://router.example:8443");
    },
  );
});

describe("--hostmaster", () => {
  it("takes a mail address, and converts it for the SOA", () => {
    expect(readMailbox("dns@example.org")).toBe("dns.example.org");
  });

  it.each(["", "dns@", "@example.org"])("refuses %j, and says what is valid", (text) => {
    expect(() => readMailbox(text)).toThrow("such as dns@example.org");
  });
});

describe("--name, for the certificate", () => {
  it.each([
    ["records.example.net", "records.example.net"],
    ["Records.Example.NET.", "records.example.net"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["*.example.org", "*.example.org"],
    ["nas", "nas"],
    ["192.0.2.7", "192.0.2.7"],
    ["2001:db8::7", "2001:db8::7"],
  ])("takes %s", (text, name) => {
    expect(readHosts(text, ["before"])).toEqual(["before", name]);
  });

  it.each([
    "",
    "https://records.example.net",
    "a.example,b.example",
    "records.example.net:8053",
    "a..b",
    "x y",
    "a.*.b",
  ])("refuses %j, which no client could connect to", (text) => {
    expect(() => readHosts(text, [])).toThrow("a host name or an address, such as records.example.net or 192.0.2.10");
  });
});

describe("--data", () => {
  it.each(["up", "records", "firewall", "token add", "key add", "transfer-key add x", "store check", "user list"])(
    "of moor %s must not be empty, as from an unset variable: that would be the current folder",
    async (words) => {
      const { io, printed } = openTerminal("/nowhere");
      expect(await runMoor([...words.split(" "), "--data", ""], io)).toBe(2);
      expect(printed.err).toContain("It must be a folder, such as ./moor-data.");
    },
  );
});

describe("a path", () => {
  it.each([
    "store backup",
    "store restore",
    "store check",
    "store copy a",
    "zone export --all --to",
    "zone import --from hetzner --from-token",
    "token add --to",
    "records --cert",
    "token list --database-password-file",
    "update --config",
    "firewall --config",
    "init --unit",
    "key add --to",
    "user password x --from",
    "transfer-key add x --to",
    "transfer-key add x --secret-file",
  ])("of moor %s must not be empty: that would be the current folder", async (words) => {
    const { io, printed } = openTerminal("/nowhere");
    expect(await runMoor([...words.split(" "), ""], io)).toBe(2);
    expect(printed.err).toContain("It must be a path.");
  });
});
