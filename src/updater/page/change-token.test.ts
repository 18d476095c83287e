import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../read-config.ts";
import { tokenPlaces, writeToken } from "./change-token.ts";

let folder: string;
const env = { DNS_TOKEN: "from-the-environment" };
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-token-"));
  mkdirSync(at("secrets"));
  writeFileSync(at("key"), "key=a\nsecret=b\n", { mode: 0o600 });
  for (const name of ["dns", "half", "other-half"]) writeFileSync(at(`secrets/${name}`), "old", { mode: 0o600 });
  const targets = [
    '  dns: { url: "https://192.0.2.2", token: { file: secrets/dns } }',
    '  env: { url: "https://192.0.2.3", token: { env: DNS_TOKEN } }',
    "  pair: { api: porkbun, key: { file: secrets/half }, secret: { file: secrets/other-half } }",
  ];
  writeFileSync(
    at("moor.yaml"),
    `names: [{ name: home, zone: example.org, ipv4: wan0, target: dns }]
sources: { wall: { url: "https://192.0.2.1", keyFile: key } }
targets:\n${targets.join("\n")}\n`,
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

function config() {
  const read = readConfig(at("moor.yaml"), env, folder);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  return read.value;
}

describe("a new token", () => {
  it("replaces the one in its file, which keeps its mode, and the config reads it", async () => {
    chmodSync(at("secrets/dns"), 0o640);
    expect(await writeToken(config(), "dns", "  n3w-token\n")).toEqual({ kind: "written" });
    expect(readFileSync(at("secrets/dns"), "utf8")).toBe("n3w-token\n");
    expect(statSync(at("secrets/dns")).mode & 0o777).toBe(0o640);
    expect(config().targets.get("dns")?.token?.()).toBe("n3w-token");
  });

  it("is written where a link leads, and the link stays", async () => {
    rmSync(at("secrets/dns"));
    writeFileSync(at("real"), "old", { mode: 0o600 });
    symlinkSync(at("real"), at("secrets/dns"));
    expect(await writeToken(config(), "dns", "n3w")).toEqual({ kind: "written" });
    expect(readFileSync(at("real"), "utf8")).toBe("n3w\n");
  });

  it.for(["", "   ", "two words", "two\nlines", "smör", "x".repeat(8_001)])(
    "is refused if it cannot be one: %j",
    async (typed) => {
      expect(await writeToken(config(), "dns", typed)).toMatchObject({ kind: "impossible" });
      expect(readFileSync(at("secrets/dns"), "utf8")).toBe("old");
    },
  );

  it.for(["env", "pair", "nobody", "__proto__"])(
    "is not written for %s, whose token is in no file",
    async (service) => {
      const outcome = await writeToken(config(), service, "n3w");
      expect(outcome).toMatchObject({ kind: "impossible" });
      expect(JSON.stringify(outcome)).not.toContain("n3w");
    },
  );
});

describe("where the token of a record service comes from", () => {
  it("is a file, a variable, or several settings; no value is shown", async () => {
    const places = await tokenPlaces(config());
    expect(places).toEqual([
      { service: "dns", kind: "file", file: at("secrets/dns") },
      {
        service: "env",
        kind: "elsewhere",
        todo: "Put the new value into the environment variable DNS_TOKEN (`token:`), then restart the updater.",
      },
      {
        service: "pair",
        kind: "elsewhere",
        todo: `Put the new value into the file ${at("secrets/half")} (\`key:\`), and into the file ${at("secrets/other-half")} (\`secret:\`).`,
      },
    ]);
    expect(JSON.stringify(places)).not.toContain("from-the-environment");
  });

  it("cannot be changed here if the file is mounted from elsewhere, as Kubernetes does", async () => {
    mkdirSync(at("secrets/..2026"));
    writeFileSync(at("secrets/..2026/dns"), "old", { mode: 0o600 });
    rmSync(at("secrets/dns"));
    symlinkSync(at("secrets/..2026/dns"), at("secrets/dns"));
    const [dns] = await tokenPlaces(config());
    expect(dns).toMatchObject({
      kind: "elsewhere",
      todo: expect.stringMatching(/^The token is mounted from elsewhere/),
    });
    expect(await writeToken(config(), "dns", "n3w")).toMatchObject({ kind: "impossible" });
  });
});
