import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureCertificate } from "../tls/certificates.ts";
import { createKey } from "./account-key.ts";
import { issuedOf, parseSaved, savedInFile } from "./saved.ts";

describe("what is saved", () => {
  it("is in a file that only its owner can read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "moor-saved-"));
    const saved = savedInFile(folder, "firewall-acme.json");
    expect(await saved.read()).toBeUndefined();
    await saved.write("{}");
    expect([await saved.read(), await readFile(saved.where, "utf8")]).toEqual(["{}", "{}"]);
    expect((await stat(saved.where)).mode & 0o777).toBe(0o600);
  });

  it("is empty at the first start", () => {
    expect(parseSaved(undefined, "the file")).toEqual({});
  });

  it.each(["", "{", "[]", "null"])("is not replaced when it is damaged: %j", (text) => {
    expect(() => parseSaved(text, "the file")).toThrow(/^the file is damaged: .*; restore it, or remove it/);
  });

  it("is not taken for missing if the file cannot be read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "moor-saved-"));
    await writeFile(join(folder, "file"), "");
    await expect(savedInFile(join(folder, "file"), "x").read()).rejects.toThrow(/cannot be read/);
  });

  it("contains a usable certificate only if the key matches it", async () => {
    const pair = await ensureCertificate(await mkdtemp(join(tmpdir(), "moor-saved-")), [], new Date());
    const certificate = { directory: "https://ca.test/", names: ["a.test"], cert: pair.cert, key: pair.key };
    expect(issuedOf({ certificate })).toMatchObject({ names: ["a.test"], validTo: expect.any(Date) });
    expect(issuedOf({ certificate: { ...certificate, key: createKey() } })).toBeUndefined();
    expect(issuedOf({ certificate: { ...certificate, cert: "torn" } })).toBeUndefined();
    expect(issuedOf({})).toBeUndefined();
  });
});
