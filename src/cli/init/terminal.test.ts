import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { sitDown } from "../../../test/rig/cli/pseudo-terminal.ts";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { wanWith } from "../../../test/rig/updater/services.ts";

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
  loop.says.firewall = ({ headers }) =>
    headers.authorization === `Basic ${Buffer.from("thekey:thesecret").toString("base64")}`
      ? {
          body: {
            lo0: wanWith(["127.0.0.1"], ["::1"]),
            lan0: wanWith(["192.168.1.2"], ["fd00::2"]),
            wan0: wanWith(["9.9.9.9"], ["2a00::9"]),
          },
        }
      : { status: 401, body: { status: 401, message: "Authentication Failed" } };
});
afterEach(() => loop.close());

const [enter, down, erase] = ["\r", "\u001b[B", "\u0015"];

function start(...words: string[]) {
  const person = sitDown(["init", "--config", "new/moor.yaml", "--control", "none", ...words], loop.folder);
  onTestFinished(person.leave);
  return person;
}

const up = "\u001b[A";
const written = () => readFileSync(join(loop.folder, "new", "moor.yaml"), "utf8");

/** The parts that all conversations share. */
async function acceptInterfaces({ reads, types }: ReturnType<typeof start>) {
  await reads(/for the A record.*\n[\s\S]*wan0/);
  types(enter);
  await reads(/for the AAAA record.*\n[\s\S]*wan0/);
  types(enter);
}

async function reachRecords({ reads, types }: ReturnType<typeof start>, token = "t0ken") {
  await reads(/Where are the records\?[\s\S]*moor records/);
  // The last one, above the first.
  types(`${up}${enter}`);
  await reads(/URL of the record service\?/);
  types(loop.service.url + enter);
  await reads(/Its API token\?/);
  types(token + enter);
}

async function acceptConfig({ reads, types, ended }: ReturnType<typeof start>) {
  await reads(/Write this config\?/);
  types(enter);
  await reads(/systemd unit/);
  types(enter);
  expect(await ended).toBe(0);
}

describe("at a terminal, an answer that does not work is asked for again, and the others are kept", () => {
  it("a host without https, a wrong secret, a wrong token", async () => {
    const person = start("--kind", "firewall");
    const { reads, types, shown } = person;
    await reads(/URL of the firewall\?/);
    types(`127.0.0.1:${loop.firewall.port}${enter}`);
    await reads(/is not a URL/);
    types(`${erase}${loop.firewall.url}${enter}`);
    await reads(/API key of a user/);
    types(`thekey${enter}`);
    await reads(/The secret of that key\?/);
    types(`mistyped${enter}`);
    await reads(/rejected the key and its secret \(401\); create a new key[^;]*`moor key add`\s/);
    await reads(/URL of the firewall\?/);
    await reads(new RegExp(loop.firewall.url));
    types(enter);
    await reads(/API key of a user of the firewall,[^?]*\?\s[\s\S]*thekey/);
    types(enter);
    await reads(/The secret of that key\? Press Enter to keep/);
    types(`thesecret${enter}`);
    await acceptInterfaces(person);
    await reachRecords(person, "wrong");
    await reads(
      /denied access[^;]*; create a new token in its\s+console, or with `moor token add`\s[\s\S]*Its API token\?/,
    );
    types(`t0ken${enter}`);
    await reads(/In which zone/);
    types(enter);
    await reads(/Which name should moor update/);
    types(enter);
    await acceptConfig(person);
    expect(written()).toContain('ipv4: "wan0"');
    expect(shown()).not.toMatch(/thesecret|mistyped|t0ken/);
  });

  it("the path of a file instead of a key or token: first a missing one, then the right one", async () => {
    writeFileSync(join(loop.folder, "fw_apikey.txt"), "key=thekey\nsecret=thesecret\n");
    const person = start("--firewall", loop.firewall.url);
    const { reads, types } = person;
    await reads(/API key of a user/);
    types(`~/nowhere.txt${enter}`);
    await reads(/The file does not exist/);
    types(`${erase}~/fw_apikey.txt${enter}`);
    await acceptInterfaces(person);
    await reachRecords(person, "./t");
    await reads(/In which zone/);
    types(enter);
    await reads(/Which name should moor update/);
    types(enter);
    await acceptConfig(person);
    expect(readFileSync(join(loop.folder, "new/secrets/records-token"), "utf8")).toBe("t0ken\n");
  });

  it("an interface whose address is not public: it warns, and another one is chosen; the best comes first", async () => {
    const person = start("--firewall", loop.firewall.url, "--firewall-key-file", "k");
    const { reads, types } = person;
    await reads(/for the A record.*\n[\s\S]*wan0 \(9\.9\.9\.9\)[\s\S]*lan0[\s\S]*lo0[\s\S]*none/);
    types(down + enter);
    await reads(/lan0 has no public address for the A record: 192\.168\.1\.2 \(private\)/);
    await reads(/Choose another interface\?/);
    types(enter);
    await reads(/for the A record/);
    types(`\u001b[A${enter}`);
    await reads(/for the AAAA record.*\n[\s\S]*wan0/);
    types(enter);
    await reachRecords(person);
    await reads(/In which zone/);
    types(enter);
    await reads(/Which name should moor update/);
    types(enter);
    await acceptConfig(person);
    expect(written()).toContain('ipv4: "wan0"');
  });
});

describe("a name without a record", () => {
  it.for(["v1", "rrsets"] as const)("gets one after a question, through %s", async (api) => {
    await loop.close();
    loop = await openLoop(undefined, undefined, { api });
    loop.says.service = ({ method, path, body }) => {
      if (method !== "POST" || !path.endsWith("/records") || path.includes("actions")) return undefined;
      const record = { id: `made${loop.records.length}`, ...(JSON.parse(body) as object) };
      loop.records.push(record as (typeof loop.records)[number]);
      return { body: { record } };
    };
    const known = ["--firewall", loop.firewall.url, "--firewall-key-file", "k", "--ipv4", "wan0", "--ipv6", "wan0"];
    const service = ["--records", loop.service.url, "--api", api, "--token-file", "t", "--zone", "example.org"];
    const person = start(...known, ...service);
    const { reads, types } = person;
    await reads(/Which name should moor update\?[\s\S]*another name/);
    types(down + enter);
    await reads(/Which name in example\.org\?/);
    types(`not a name${enter}`);
    await reads(/not a name is not a name in example\.org/);
    types(`${erase}nas${enter}`);
    await reads(/There is no A record nas\.example\.org yet\. Create it now, with 9\.9\.9\.9\?/);
    types(enter);
    await reads(/Created the A record nas\.example\.org, with 9\.9\.9\.9\./);
    await reads(/There is no AAAA record nas\.example\.org yet/);
    types(enter);
    await reads(/Created the AAAA record/);
    await acceptConfig(person);
    const made = loop.records.filter(({ name }) => name === "nas").map(({ type, value }) => `${type} ${value}`);
    expect(made.toSorted()).toEqual(["A 9.9.9.9", "AAAA 2a00::9"]);
    expect(written()).toContain('name: "nas"');
  });
});

describe("any kind", () => {
  it("is asked for with its own descriptions: a program, and a service that has no name in moor and cannot list zones", async () => {
    writeFileSync(join(loop.folder, "my-address"), "#!/bin/sh\necho 9.9.9.9\n", { mode: 0o755 });
    const person = start("--kind", "command", "--api", "dyndns2", "--target-set", "dns=[127.0.0.1:9]");
    const { reads, types, ended, shown } = person;
    await reads(/A program that prints addresses, one per line\?/);
    types(`/nowhere${enter}`);
    await reads(/the program \/nowhere cannot be started \(ENOENT\)/);
    await reads(/A program that prints addresses, one per line\?[\s\S]*\/nowhere/);
    types(`${erase}${join(loop.folder, "my-address")}${enter}`);
    await reads(/Should the name have an A record\?\n.*yes \(9\.9\.9\.9\)/);
    types(enter);
    await reads(/Should the name have an AAAA record\?\n.*no/);
    types(enter);
    await reads(/A well-known service, instead of `url`\?/);
    types(`\u001b[A${enter}`);
    await reads(/URL of the record service\?/);
    types(`${loop.service.url}${enter}`);
    await reads(/The user name\?/);
    types(`me${enter}`);
    await reads(/The password, or the key of this host\?/);
    types(`hidden${enter}`);
    await reads(/In which zone is the name\?/);
    types(`example.org${enter}`);
    await reads(/Which name in example\.org\?/);
    types(`home${enter}`);
    await reads(/The round failed\. Write the config anyway\?/);
    types(`y${enter}`);
    await reads(/systemd unit/);
    types(enter);
    expect(await ended).toBe(0);
    expect(written()).toContain(`url: "${loop.service.url}/"`);
    expect(written()).toMatch(/user: "me"\n {4}password: \{ file: secrets\/dyndns2-password \}/);
    expect(shown()).not.toContain("hidden");
    expect(readFileSync(join(loop.folder, "new/secrets/dyndns2-password"), "utf8")).toBe("hidden\n");
  });

  it("that asks nothing and cannot be read: another one is chosen", async () => {
    const words = ["init", "--control", "none", "--kind", "igd"];
    const { reads, shown, leave } = sitDown(words, loop.folder, ["unshare", "--map-root-user", "--net"]);
    onTestFinished(leave);
    await reads(/Where should moor read the addresses\?/);
    expect(shown()).toContain("this machine has no IPv4 router; set `gateway:` to the address of the router");
  });
});

it("asks before it writes a config with mistakes from another program's config", async () => {
  const old =
    "use=if, if=eth0\nprotocol=cloudflare, ttl=3000000000, zone=example.org, password=t0ken home.example.org\n";
  writeFileSync(join(loop.folder, "old.conf"), old);
  const { reads, types, ended } = start("--from", "old.conf");
  await reads(/ttl is not[\s\S]*The new config has mistakes\. Write it anyway\?/);
  types(`y${enter}`);
  await reads(/systemd unit/);
  types(enter);
  expect(await ended).toBe(0);
  expect(written()).toContain("ttl: 3000000000");
});
