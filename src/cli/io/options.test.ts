import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";
import { readCount, readHosts, readMailbox, readWorkers } from "./options.ts";

describe("--dns-workers", () => {
  it.each([
    ["0", 0],
    ["2", 2],
    ["64", 64],
  ])("takes %s", (text, count) => {
    expect(readWorkers(text)).toBe(count);
  });

  it.each(["", "-1", "1.5", "two", "65", "100", "0x2"])("does not take %j, and says what it takes", (text) => {
    expect(() => readWorkers(text)).toThrow("0 to 64");
  });
});

describe("a count, as --last and --most take it", () => {
  it("is a whole number from 1", () => {
    expect([readCount("1"), readCount("99999")]).toEqual([1, 99_999]);
  });

  it.each(["", "0", "-1", "1.5", "ten", "100000"])("is not %j", (text) => {
    expect(() => readCount(text)).toThrow("1 to 99999");
  });
});

describe("--hostmaster", () => {
  it("takes a mail address, and writes it as an SOA does", () => {
    expect(readMailbox("dns@example.org")).toBe("dns.example.org");
  });

  it.each(["", "dns@", "@example.org"])("does not take %j, and says what it takes", (text) => {
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
  ])("does not take %j, which no client would ever ask for", (text) => {
    expect(() => readHosts(text, [])).toThrow("a host name or an address, such as records.example.net or 192.0.2.10");
  });
});

describe("--data", () => {
  it.each(["up", "records", "firewall", "token add", "key add", "transfer-key add x", "store check", "user list"])(
    "of moor %s is not the folder one stands in when it is empty, as of a variable that is not set",
    async (words) => {
      const { io, printed } = openTerminal("/nowhere");
      expect(await runMoor([...words.split(" "), "--data", ""], io)).toBe(2);
      expect(printed.err).toContain("It takes a folder, such as ./moor-data.");
    },
  );
});

describe("a path", () => {
  it.each([
    "store backup",
    "store restore",
    "store check",
    "store copy a",
    "export",
    "import",
    "import a --tokens",
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
  ])("of moor %s is not the folder one stands in when it is empty", async (words) => {
    const { io, printed } = openTerminal("/nowhere");
    expect(await runMoor([...words.split(" "), ""], io)).toBe(2);
    expect(printed.err).toContain("It takes a path.");
  });
});
