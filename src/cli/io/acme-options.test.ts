import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { letsEncrypt } from "../../lib/acme/plan.ts";
import { type AcmeFlags, publicUrl, readAcme } from "./acme-options.ts";

const terminal = async () => {
  const cwd = await mkdtemp(join(tmpdir(), "moor-acme-options-"));
  await writeFile(join(cwd, "empty.pem"), "");
  return openTerminal(cwd, new AbortController().signal);
};

describe("readAcme", () => {
  it("orders the public names from Let's Encrypt, unless another authority is given", async () => {
    const { io } = await terminal();
    const names = ["dns.example.org", "192.0.2.1", "dns.lan"];
    expect(await readAcme({}, names, io)).toEqual({});
    expect(await readAcme({ acme: "you@example.org" }, names, io)).toEqual({
      acme: {
        mail: "you@example.org",
        directory: letsEncrypt,
        names: ["dns.example.org"],
        trust: undefined,
        http: { host: expect.stringMatching(/^(?:::|0\.0\.0\.0)$/), port: 80 },
      },
    });
    const acmeDirectory = "https://ca.lan/acme/directory";
    expect(await readAcme({ acme: "you@example.org", acmeDirectory }, names, io)).toMatchObject({
      acme: { directory: acmeDirectory, names: ["dns.example.org", "dns.lan"] },
    });
  });

  it.each<[string, AcmeFlags, readonly string[], RegExp]>([
    [
      "no name is public",
      { acme: "a@b.org" },
      ["dns.lan"],
      /^--acme needs the public name .*--name dns\.example\.org\n$/,
    ],
    ["there is no --acme", { acmeDirectory: "https://ca.lan/" }, ["a.org"], /need --acme MAIL\n$/],
    ["the file is missing", { acme: "a@b.org", acmeCa: "gone.pem" }, ["a.org"], /^--acme-ca: gone\.pem is not a file/],
    ["the file is empty", { acme: "a@b.org", acmeCa: "empty.pem" }, ["a.org"], /^--acme-ca: empty\.pem is not a file/],
  ])("refuses when %s", async (_, flags, names, said) => {
    const { io, printed } = await terminal();
    expect(await readAcme(flags, names, io)).toBe("refused");
    expect(printed.err).toMatch(said);
  });
});

describe("publicUrl", () => {
  const acme = (...names: string[]) => ({ names }) as unknown as Parameters<typeof publicUrl>[0];
  it.each([
    [undefined, "https://127.0.0.1:8053", "https://127.0.0.1:8053"],
    [acme("*.example.org", "dns.example.org"), "https://127.0.0.1:8053", "https://dns.example.org:8053"],
    [acme("dns.example.org"), "https://192.0.2.1:443", "https://dns.example.org"],
    [acme("*.example.org"), "https://192.0.2.1:8053", "https://192.0.2.1:8053"],
  ])("%#: %s", (given, url, said) => {
    expect(publicUrl(given, url)).toBe(said);
  });
});
