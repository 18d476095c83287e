import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { readOidc } from "../../src/cli/io/oidc-option.ts";
import { runMoor } from "../../src/cli/program.ts";
import { readFirewallConfig } from "../../src/firewall/read-config.ts";
import { issueAuthority } from "../../src/lib/tls/issue-certificate.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { repository } from "../rig/namespace.ts";
import { type Block, pages } from "./pages.ts";

type Example = Block & { readonly at: string };

const examples: readonly Example[] = pages.flatMap(({ path, blocks }) =>
  blocks.map((block) => ({ ...block, at: `${path}:${block.line}` })),
);

const schema = JSON.parse(readFileSync(join(repository, "moor.schema.json"), "utf8")) as {
  readonly properties: Readonly<Record<string, unknown>>;
};

const yamlExamples = examples
  .filter(({ language, title }) => language === "yaml" && title === "")
  .map((example) => ({ ...example, value: parse(example.text) as unknown }));

const isSettings = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(value).every((key) => Object.hasOwn(schema.properties, key));

/** An example that shows one part of a config, with the rest of it. */
function completed(settings: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(settings);
  const wanted = (key: string) => [
    ...new Set([...text.matchAll(new RegExp(`"${key}":"(\\w+)"`, "g"))].map(([, name]) => name ?? "")),
  ];
  const each = (names: readonly string[], usual: string, entry: object) =>
    Object.fromEntries((names.length > 0 ? names : [usual]).map((name) => [name, entry]));
  return {
    sources: each(wanted("source"), "home", { url: "https://192.168.1.1", keyFile: "key.txt" }),
    targets: each(wanted("target"), "dns", { url: "https://dns.example.org", token: { file: "token" } }),
    names: [{ name: "home", zone: "example.org", ipv4: "pppoe0" }],
    ...settings,
  };
}

const authority = (await issueAuthority(new Date(), undefined)).cert;

/** The content of a key file, both for a firewall and for a nameserver. */
const keyFiles = 'key=k\nsecret=s\nkey "home" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OWFiY2RlZg=="; };\n';

/** Writes the config and the files that it names to a folder, and returns what `moor update --check` says. */
async function check(settings: Record<string, unknown>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "moor-docs-"));
  const text = stringify(completed(settings))
    .replaceAll(/: \/(?=var)/g, `: ${folder}/`)
    .replaceAll("/usr/local/bin/", "./bin/");
  const write = (path: string, content: string, mode = 0o600) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode });
  };
  for (const [program] of text.matchAll(/\.\/(?:bin\/)?[\w-]+$/gm)) write(program, "#!/bin/sh\n", 0o700);
  for (const [, path = ""] of text.matchAll(/keyFile: (\S+)/g)) write(path, keyFiles);
  for (const [, path = ""] of text.matchAll(/\bca: (\S+)/g)) write(path, authority);
  for (const [, path = ""] of text.matchAll(/\bfile: ([^\s}]+)/g)) write(path, "four-ships-in-a-quiet-harbour\n");
  for (const [path = ""] of text.matchAll(new RegExp(`${folder}/\\S+`, "g")))
    mkdirSync(dirname(path), { recursive: true });
  writeFileSync(join(folder, "moor.yaml"), text);
  const { io, printed } = openTerminal(folder);
  const code = await runMoor(["update", "--check"], io);
  return code === 0 ? "ok" : `${printed.err}\n${text}`;
}

describe("configs of moor update in the docs", () => {
  const configs = yamlExamples.flatMap(({ at, value }) => (isSettings(value) ? [{ at, value }] : []));

  it("are found", () => expect(configs.length).toBeGreaterThan(7));

  it.each(configs)("$at is valid", async ({ value }) => expect(await check(value)).toBe("ok"));

  it("moor.sample.yaml is valid", async () => {
    const sample = parse(readFileSync(join(repository, "moor.sample.yaml"), "utf8")) as Record<string, unknown>;
    expect(await check(sample)).toBe("ok");
  });

  it("that are not valid are noticed", async () => {
    expect(await check({ names: [{ name: "home", zone: "example.org", ipv5: "eth0" }] })).toContain("ipv5");
  });
});

it("configs of moor firewall in the docs are valid", () => {
  const configs = yamlExamples.filter(({ value }) => Object.keys(value as object).join() === "interfaces");
  expect(configs.length).toBeGreaterThan(0);
  expect(configs.map(({ text }) => readFirewallConfig(text, "firewall.yaml").ok)).toEqual(configs.map(() => true));
});

it("descriptions of identity providers in the docs are valid", async () => {
  const files = examples.filter(({ title }) => title === "oidc.yaml");
  expect(files.length).toBe(3);
  const folder = mkdtempSync(join(tmpdir(), "moor-docs-"));
  writeFileSync(join(folder, "oidc-secret"), "four-ships-in-a-quiet-harbour\n", { mode: 0o600 });
  const { io, printed } = openTerminal(folder);
  for (const { text } of files) {
    writeFileSync(join(folder, "oidc.yaml"), text);
    expect(await readOidc({ oidc: "oidc.yaml" }, io)).not.toBe("refused");
  }
  expect(printed.err).toBe("");
  writeFileSync(join(folder, "oidc.yaml"), "issuer: http://auth.example.org\nclient: moor\nallow: [{ role: read }]\n");
  expect(await readOidc({ oidc: "oidc.yaml" }, io)).toBe("refused");
  for (const fault of ["no secret", "would send its secret unencrypted", "names no users"])
    expect(printed.err).toContain(fault);
});

it("JSON in the docs is JSON", () => {
  const texts = examples.filter(({ language }) => language === "json");
  expect(texts.length).toBeGreaterThan(0);
  for (const { text } of texts) expect(() => JSON.parse(text) as unknown).not.toThrow();
});

/** How each server checks its config file; test/nameserver/secondaries.test.ts runs them all. */
const checkers: Readonly<Record<string, (file: string) => readonly [string, ...string[]]>> = {
  "/etc/knot/knot.conf": (file) => ["knotc", "-c", file, "conf-check"],
  "/etc/bind/named.conf": (file) => ["named-checkconf", file],
  "/etc/nsd/nsd.conf": (file) => ["nsd-checkconf", file],
  "/etc/inadyn.conf": (file) => ["inadyn", "--check-config", "-f", file],
};

describe("configs of other programs in the docs", () => {
  const files = examples.filter(({ title }) => Object.hasOwn(checkers, title));

  it("are found", () => expect(new Set(files.map(({ title }) => title)).size).toBe(Object.keys(checkers).length));

  it.each(files)("$at: $title is accepted by its program", async ({ title, text }) => {
    const folder = mkdtempSync(join(tmpdir(), "moor-docs-"));
    const here = (path: string) => path.replaceAll(/\/(?=etc\/|var\/|run\/)/g, `${folder}/`);
    const included = /include:? "?(\/[^\s"]+)/.exec(text)?.[1];
    mkdirSync(dirname(here(title)), { recursive: true });
    for (const path of ["/var/cache/bind", "/run/nsd", "/etc/moor"]) mkdirSync(here(path), { recursive: true });
    if (included !== undefined) {
      const server = title.split("/")[2] ?? "";
      const { io, printed } = openTerminal(folder);
      const code = await runMoor(
        ["transfer-key", "add", "--new", server, "--format", server, "--to", here(included)],
        io,
      );
      expect({ code, said: printed.err }).toMatchObject({ code: 0 });
    }
    writeFileSync(here("/etc/moor/ca-and-system.pem"), authority);
    writeFileSync(here(title), here(text), { mode: 0o600 });
    const [program, ...args] = checkers[title]?.(here(title)) ?? ["false"];
    const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
    await expect(promisify(execFile)(program, args, { env })).resolves.toBeDefined();
  });
});
