import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { configFromEnvironment } from "./environment.ts";
import { update } from "./update.ts";

let loop: Loop;
beforeAll(async () => {
  loop = await openLoop();
  mkdirSync(join(loop.folder, "empty"));
});
afterAll(() => loop.close());

const run = async (env: Readonly<Record<string, string>>, folder = "empty", options = {}) => {
  const { io, printed } = openTerminal(join(loop.folder, folder));
  const code = await update({ once: true, ...options }, { ...io, env });
  return { code, ...printed };
};

describe("a config of environment variables", () => {
  const hetzner = { MOOR_TARGET: "hetzner", MOOR_TOKEN: "t0ken", MOOR_NAMES: "home.example.org" };
  const here = () => ({
    MOOR_SOURCE: "firewall",
    MOOR_SOURCE_URL: loop.firewall.url,
    MOOR_SOURCE_KEY_FILE: join(loop.folder, "k"),
    MOOR_TARGET: "v1",
    MOOR_TARGET_URL: loop.service.url,
    MOOR_TOKEN_FILE: join(loop.folder, "t"),
    MOOR_NAMES: "home.example.org",
    MOOR_IPV4: "wan0",
    MOOR_CREATE: "false",
  });

  it("writes the record, and stores the address in the folder where it runs", async () => {
    const env = here();
    const { code, out, err } = await run(env);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^home\.example\.org A: replaced by 9\.9\.9\.9/);
    expect((await run(env)).out).toMatch(/^home\.example\.org A: left as it is: the address is still 9\.9\.9\.9/);
  });

  it("is not used beside a config file, which it says", async () => {
    const { err, out } = await run({ ...here(), MOOR_NAMES: "other.example.org" }, ".", { once: false, check: true });
    expect(err).toMatch(/^warning: moor\.yaml counts, not the variables MOOR_TARGET and MOOR_NAMES; remove/);
    expect(out).toMatch(/home\.example\.org/);
  });

  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ ...hetzner, MOOR_TOKN: "x" }, /^MOOR_TOKN: .*no such variable; remove it, or did you mean MOOR_TOKEN\?$/],
    [{ ...hetzner, MOOR_TARGET: "hetznr" }, /^MOOR_TARGET: there is no hetznr; .*did you mean hetzner\?$/],
    [{ ...hetzner, MOOR_SOURCE: "fritzbx" }, /^MOOR_SOURCE: there is no fritzbx; .*did you mean fritzbox\?$/],
    [{ MOOR_NAMES: "home.example.org" }, /^MOOR_TARGET: it is not set; /],
    [{ MOOR_TARGET: "hetzner" }, /^MOOR_NAMES: it is not set; set it to the names, such as /],
    [{ ...hetzner, MOOR_TTL: "soon" }, /^MOOR_TTL: ttl is not a whole number/],
    [{ ...hetzner, MOOR_INTERVAL: "1" }, /^MOOR_INTERVAL: /],
    [{ ...hetzner, MOOR_NOTIFY: "[" }, /^MOOR_NOTIFY: it cannot be read as YAML; /],
    [{ ...hetzner, MOOR_TOKEN_FILE: "nowhere" }, /^MOOR_(TOKEN|TOKEN_FILE): it says the same as MOOR_TOKEN/],
    [{ ...hetzner, MOOR_TOKEN: "two words" }, /^MOOR_TOKEN: token of target hetzner contains a space/],
    [{ ...hetzner, MOOR_SOURCE: "interface" }, /^MOOR_IPV4: it is not set, .* set MOOR_IPV4, MOOR_IPV6 or both/],
    [{ ...hetzner, MOOR_ZONE: "example.net" }, /^MOOR_NAMES: home\.example\.org is not in the zone example\.net; /],
  ];
  it.each(wrong)("names the variable that is wrong: %o", async (env, says) => {
    const { code, err } = await run(env, "empty", { check: true });
    expect(code).toBe(2);
    expect(err.trimEnd()).toMatch(says);
  });

  const zones: readonly (readonly [name: string, zone: string | undefined, written: readonly [string, string]])[] = [
    ["home.example.org", undefined, ["home", "example.org"]],
    ["example.org.", undefined, ["@", "example.org"]],
    ["a.b.example.org", undefined, ["a.b", "example.org"]],
    ["nas.example.co.uk", undefined, ["nas", "example.co.uk"]],
    ["nas.co.example.de", undefined, ["nas.co", "example.de"]],
    ["*.home.example.org", "home.example.org", ["*", "home.example.org"]],
    ["Home.Example.org", "example.org", ["Home", "example.org"]],
  ];
  it.each(zones)("%s in %s", (name, zone, [owner, of]) => {
    const read = configFromEnvironment({ ...hetzner, MOOR_NAMES: name, ...(zone && { MOOR_ZONE: zone }) });
    expect(read?.ok && read.value.text).toContain(`  - name: "${owner}"\n    zone: "${of}"\n`);
  });

  it("takes lists and mappings as they are written in moor.yaml", () => {
    const notify = '[{ kind: ntfy, url: "https://ntfy.sh/x" }]';
    const read = configFromEnvironment({ ...hetzner, MOOR_NOTIFY: notify, MOOR_IPV6: '{ host: "::1:2" }' });
    const text = read?.ok ? read.value.text : "";
    expect(text).toContain('notify: [{"kind":"ntfy","url":"https://ntfy.sh/x"}]\n');
    expect(text).toContain('    ipv6: {"host":"::1:2"}\n');
    expect(text).not.toContain("ipv4");
  });

  it("is there only if MOOR_TARGET or MOOR_NAMES is set", () =>
    expect(configFromEnvironment({ MOOR_TTL: "60", PATH: "/bin" })).toBeUndefined());
});
