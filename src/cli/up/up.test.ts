import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keysFile, openAccess } from "../../firewall/access/store.ts";
import { recordsDatabase } from "../../records/open-store.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";

let other: Server;
let taken: string;
beforeAll(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  other = createServer().listen(0, "127.0.0.1", resolve);
  await promise;
  taken = `127.0.0.1:${(other.address() as { port: number }).port}`;
});
afterAll(() => void other.close());

/** Runs until it has printed everything, or ends. */
const up = (places: Readonly<Record<string, string>>, isTerminal = true, ...more: readonly string[]) =>
  upWhile(async () => undefined, places, isTerminal, ...more);

/** The same; `whileUp` gets what was printed, and runs before it is stopped. */
async function upWhile(
  whileUp: (said: string) => Promise<unknown>,
  places: Readonly<Record<string, string>>,
  isTerminal = true,
  ...more: readonly string[]
) {
  const cwd = await mkdtemp(join(tmpdir(), "moor-up-"));
  const anywhere = { records: "127.0.0.1:0", firewall: "127.0.0.1:0", dns: "127.0.0.1:0", updater: "127.0.0.1:0" };
  const words = Object.entries({ ...anywhere, ...places }).flatMap(([part, at]) => [`--${part}`, at]);
  const stop = new AbortController();
  let said = "";
  let asking: Promise<unknown> = Promise.resolve();
  const out = (text: string) => {
    said += text;
    if (/sign-in.*\n$/.test(said)) asking = whileUp(said).finally(() => stop.abort());
  };
  const io = { program: "moor", out, err: out, env: {}, cwd, isTerminal, signal: stop.signal };
  const code = await runMoor(["up", "--interface", "lo", ...words, ...more], io);
  return { code, said, cwd, asked: await asking };
}

it("prints one link for all pages, and says that the browser will warn about it, why, and what to do", async () => {
  const { said } = await up({});
  expect(said).toMatch(
    /The browser warns .*private authority issued it\. Import moor-data\/ca\.pem, or continue anyway\.\nSign in to all pages .*:\n {2}https:\S+sign-in#\w{43}\n/,
  );
});

it("prints where everything is, what it wrote and how to stop it, and the link last", async () => {
  const { said } = await up({});
  const [state = "", ...rest] = said.split("\n\nStopping")[0]?.trimEnd().split("\n") ?? [];
  expect(state).toMatch(/^moor is up: DNS https:\S+, firewall https:\S+, updater https:\S+, nameserver \S+ port \d+$/);
  expect(rest.filter((line) => / (?:A|AAAA): /.test(line)).length).toBeGreaterThan(0);
  expect(rest.find((line) => line.startsWith("Ctrl-C stops it."))).toContain("--examples");
  expect(rest.at(-1)).toMatch(/^ {2}https:\S+sign-in#\w{43}$/);
  expect(said).not.toContain("curl");
});

it("prints the command for a link, not the link, if the output may end up in a log", async () => {
  const { said } = await up({}, false);
  expect(said).toMatch(/link for all pages:\n {2}moor sign-in --data \S+ --url https:\S+\n/);
  expect(said).not.toContain("sign-in#");
});

it("records its new key in the audit log of the firewall", async () => {
  const { cwd } = await up({});
  const access = openAccess(keysFile(join(cwd, "moor-data")));
  expect(access.audit.latest(9)).toContainEqual(
    expect.objectContaining({
      source: "command line",
      action: "key added",
      subject: expect.stringContaining("moor up"),
    }),
  );
  access.close();
});

it("does not touch the data of a running service", async () => {
  const data = await mkdtemp(join(tmpdir(), "moor-up-"));
  const store = openSqliteStore(recordsDatabase(data));
  await writeFile(join(data, "up.yaml"), "# mine\n");
  const before = await readdir(data);
  expect(await up({ data })).toMatchObject({ code: 2, said: expect.stringContaining("A running service uses") });
  expect([await store.tokens(), await readdir(data)]).toEqual([[], before]);
  expect(await readFile(join(data, "up.yaml"), "utf8")).toBe("# mine\n");
  store.close();
});

it("says how it learns of a change", async () => {
  const { said } = await up({}, true, "--examples");
  expect(said).toMatch(/follows lo: checks immediately when .*, otherwise every 2 s\n/);
});

it("lets no second updater use its state file", async () => {
  const data = await mkdtemp(join(tmpdir(), "moor-up-"));
  const stop = new AbortController();
  let said = "";
  const out = (text: string) => {
    said += text;
    if (said.includes("watching")) stop.abort();
  };
  const io = { program: "moor", out, err: out, env: {}, cwd: data, isTerminal: false, signal: stop.signal };
  const { asked } = await upWhile(() => runMoor(["update", "--config", join(data, "up.yaml")], io), { data });
  expect([asked, said]).toEqual([1, expect.stringContaining("another updater uses the state file")]);
});

describe("moor up --oidc", () => {
  const settings = (issuer: string) =>
    `{ name: Harbour ID, issuer: "${issuer}", client: moor, secret: { file: oidc-secret }, allow: [{ group: dns-admins }] }`;
  const written = async (content: string) => {
    const folder = await mkdtemp(join(tmpdir(), "moor-up-"));
    await writeFile(join(folder, "oidc-secret"), "a secret of the client", { mode: 0o600 });
    await writeFile(join(folder, "oidc.yaml"), content);
    return join(folder, "oidc.yaml");
  };

  const providerAt = async (url: string) => {
    const { stdout } = await promisify(execFile)("curl", ["-sk", `${url}/console/services`]);
    return (JSON.parse(stdout) as { provider?: string }).provider;
  };

  it("offers the provider on the page of the record service only, whose owner is signed in on all", async () => {
    const ways = async (said: string) => {
      const urls = said.matchAll(/(?:DNS|firewall|updater) (https:\/\/[\d.:]+)/g);
      return await Promise.all([...urls].map(async ([, url]) => await providerAt(`${url}`)));
    };
    const file = await written(settings("https://auth.example.org"));
    const { asked } = await upWhile(ways, {}, true, "--oidc", file);
    expect(asked).toEqual(["Harbour ID", undefined, undefined]);
  });

  it("starts nothing if the file has a fault", async () => {
    const { code, said, cwd } = await up({}, true, "--oidc", await written(settings("auth.example.org")));
    expect([code, said]).toEqual([2, expect.stringContaining("issuer")]);
    expect(await readdir(cwd)).toEqual([]);
  });
});

describe("moor up, if a port is in use", () => {
  it.each(["records", "firewall", "dns", "metrics"])("names the option to change: --%s", async (part) => {
    const { code, said } = await up({ [part]: taken });
    expect(code).toBe(1);
    expect(said).toMatch(new RegExp(`port ${taken.split(":")[1]} on 127\\.0\\.0\\.1 is in use.* --${part} HOST:PORT`));
    expect(said).not.toContain("--listen");
  });

  it("still updates the name if it is the port of the updater's page", async () => {
    const { code, said } = await up({ updater: taken });
    expect(code).toBe(0);
    expect(said).toMatch(/status page is unavailable.*is in use.* --updater HOST:PORT/);
  });
});
