import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { openConfigured } from "../../../test/rig/updater/configured-target.ts";
import { goodFirewall } from "../../../test/rig/updater/loop.ts";
import { type Asked, type Reply, startServer, type TestServer } from "../../../test/rig/updater/services.ts";
import { readConfig } from "../read-config.ts";
import { openStateFile } from "../round/state-file.ts";
import { openUpdater } from "../updater.ts";
import { dyndns2 } from "./dyndns2.ts";
import type { Dyndns2Target } from "./dyndns2-settings.ts";
import type { RecordTarget, ReplaceRequest, TargetFault } from "./target.ts";

const password = "p4ss wörd: 密码 0123456789";
const never = new AbortController().signal;
const request: ReplaceRequest = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" };

let server: TestServer;
let target: RecordTarget;
let says: (asked: Asked) => Reply;

/** A service that follows the protocol, and refuses clients that do not. */
const strict = (asked: Asked): Reply => {
  const { pathname, searchParams } = new URL(asked.path, "http://x");
  const [, sent = ""] = (asked.headers.authorization ?? "").split(" ");
  const line = (body: string, status = 200) => ({ status, body, headers: { "content-type": "text/plain" } });
  if (asked.method !== "GET" || pathname !== "/nic/update") return line("no such page", 404);
  if (!/^moor\/\d/.test(asked.headers["user-agent"] ?? "")) return line("badagent");
  if (Buffer.from(sent, "base64").toString() !== `me:${password}`) return line("badauth", 401);
  if (searchParams.get("hostname") !== "home.example.org") return line("nohost");
  return says(asked);
};
const word =
  (body: string, more: Partial<Reply> = {}) =>
  () => ({ body, ...more });
const settings = (more = "") => `url: "${server.url}", user: me, password: { file: secret }${more}`;

beforeEach(async () => {
  says = ({ path }) => ({ body: `good ${new URL(path, "http://x").searchParams.get("myip")}` });
  server = await startServer(strict);
  target = await openConfigured("dyndns2", settings(), { secret: password });
});
afterEach(async () => {
  target.close();
  await server.close();
});

it("sends one request, as the protocol describes it", async () => {
  expect(await target.replace(request, never)).toEqual({ kind: "done", recordId: "home.example.org", ttl: null });
  expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /nic/update?hostname=home.example.org&myip=9.9.9.9",
  ]);
});

test.each(["good 9.9.9.9", "nochg 9.9.9.9", "good", "nochg", "good 9.9.9.9\r\n", "good 2a00::1,9.9.9.9"])(
  "%j means that the record holds the address",
  async (body) => {
    says = word(body);
    const outcome = await target.replace(request, never);
    expect(outcome.kind).toBe("done");
    expect("already" in outcome).toBe(body.startsWith("nochg"));
  },
);

const day = 86_400_000;
const halfAnHour = 1_800_000;

describe("every other word", () => {
  test.each<[string, "refused" | "unknown", Partial<TargetFault>]>([
    ["badauth", "refused", { kind: "unauthorised", retryAfter: day }],
    ["badagent", "refused", { kind: "refused", retryAfter: day }],
    ["abuse", "refused", { kind: "refused", retryAfter: day, onlyName: true }],
    ["!donator", "refused", { kind: "refused", retryAfter: day, onlyName: true }],
    ["!yours", "refused", { kind: "missing", retryAfter: day, onlyName: true }],
    ["nohost", "refused", { kind: "missing", retryAfter: day, onlyName: true }],
    ["notfqdn", "refused", { kind: "refused", retryAfter: day, onlyName: true }],
    ["numhost", "refused", { kind: "refused", retryAfter: day, onlyName: true }],
    ["dnserr", "unknown", { kind: "later", retryAfter: halfAnHour }],
    ["911", "unknown", { kind: "later", retryAfter: halfAnHour }],
  ])("%s", async (body, kind, fault) => {
    says = word(body);
    const outcome = await target.replace(request, never);
    expect(outcome).toMatchObject({ kind, fault: { ...fault, because: expect.stringContaining(`(${body})`) } });
  });

  it("has its own text", async () => {
    const words = [
      "badauth",
      "badagent",
      "abuse",
      "!donator",
      "!yours",
      "nohost",
      "notfqdn",
      "numhost",
      "dnserr",
      "911",
    ];
    const texts = new Set<string>();
    for (const body of words) {
      says = word(body);
      const outcome = await target.replace(request, never);
      if (outcome.kind !== "done") texts.add(outcome.fault.because);
    }
    expect(texts.size).toBe(words.length);
  });
});

test.each<[string, Reply, RegExp]>([
  ["another address", { body: "good 9.9.9.8" }, /stored 9\.9\.9\.8 instead of 9\.9\.9\.9/],
  ["the address for ignored clients", { body: "good 127.0.0.1" }, /ignored the update/],
  ["a web page", { body: "<html>good</html>" }, /not a dyndns2 return code/],
  ["nothing", { body: "" }, /not a dyndns2 return code/],
  ["abuse, though it only wants us to wait", { status: 429, body: "abuse", headers: { "retry-after": "60" } }, /429/],
])("the outcome is not a success with %s", async (_, reply, because) => {
  says = () => reply;
  const outcome = await target.replace(request, never);
  expect(outcome).toMatchObject({ fault: { kind: "later", because: expect.stringMatching(because) } });
  expect(outcome).not.toMatchObject({ fault: { retryAfter: day } });
});

it("sends IPv6 in the parameter that the service expects", async () => {
  await target.replace({ ...request, family: "ipv6", value: "2a00::9" }, never);
  expect(server.asked[0]?.path).toContain("&myip=2a00::9");
});

it("reads with a DNS query, and reports unknown when no server answers", async () => {
  const asking = await openConfigured("dyndns2", settings(', dns: ["127.0.0.1:1"]'), { secret: password });
  expect(await asking.current(request, never)).toMatchObject({
    kind: "later",
    because: "no nameserver of example.org answers",
    unreached: true,
  });
  asking.close();
});

describe("after badauth or abuse", () => {
  let folder: string;
  let firewall: TestServer;
  let now: number;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "moor-dyndns2-"));
    firewall = await startServer(goodFirewall);
    now = Date.now();
  });
  afterEach(async () => {
    await firewall.close();
    rmSync(folder, { recursive: true });
  });

  /** Like `moor update --once` from cron: a new process each time. */
  async function round(secret = password): Promise<number> {
    const before = server.asked.length;
    writeFileSync(join(folder, "secret"), secret, { mode: 0o600 });
    writeFileSync(join(folder, "k"), "key=k\nsecret=s\n", { mode: 0o600 });
    const text = `sources: { home: { url: "${firewall.url}", keyFile: k } }
targets: { dns: { api: dyndns2, ${settings()} } }
names: [{ name: home, zone: example.org, ipv4: wan0 }]
`;
    writeFileSync(join(folder, "moor.yaml"), text);
    const config = readConfig("moor.yaml", {}, folder);
    if (!config.ok) throw new Error(JSON.stringify(config.faults));
    const opened = await openStateFile(config.value.stateFile, now, { write: true });
    if (opened.kind !== "open") throw new Error(opened.because);
    const updater = await openUpdater(config.value, { state: opened.state, now: () => now, random: () => 0 });
    await updater.round(never);
    updater.close();
    return server.asked.length - before;
  }

  it("nothing is sent until the password changes or a day passes", async () => {
    expect([await round("wrong-password"), await round("wrong-password")]).toEqual([1, 0]);
    now += day - 60_000;
    expect(await round("wrong-password")).toBe(0);
    now += 120_000;
    expect(await round("wrong-password")).toBe(1);
    expect([await round(), await round()]).toEqual([1, 0]);
  });

  it("nothing is sent for the blocked name until a day passes", async () => {
    says = word("abuse");
    expect([await round(), await round()]).toEqual([1, 0]);
    now += day + 60_000;
    says = word("good 9.9.9.9");
    expect(await round()).toBe(1);
  });
});

test.each([
  ["service: strato", "https://dyndns.strato.com/nic/update"],
  ["service: ovh", "https://dns.eu.ovhapis.com/nic/update"],
  ["url: https://dns.example.org", "https://dns.example.org/nic/update"],
  ["url: https://dns.example.org/v3/update", "https://dns.example.org/v3/update"],
])("%s is %s", (where, url) => expect(configOf(where)).toBe(url));

test.each([
  ["service: nowhere", /cannot be "nowhere"/],
  ["service: strato, url: https://dns.example.org", /exactly one of service and url/],
  ["service: noip, contact: me", /contact of target dns is not a mail address/],
  ["user: me", /exactly one of service and url/],
])("%s is a fault", (where, fault) => expect(configOf(where)).toMatch(fault));

function configOf(where: string): string {
  const read = configWith(where);
  return read.ok ? (read.value.targets.get("dns")?.url.href ?? "") : read.faults.map(({ message }) => message).join();
}

function configWith(where: string): ReturnType<typeof readConfig> {
  const folder = mkdtempSync(join(tmpdir(), "moor-dyndns2-"));
  writeFileSync(join(folder, "k"), "key=k\nsecret=s\n", { mode: 0o600 });
  const user = where.includes("user:") ? "" : ", user: me";
  const text = `sources: { home: { url: "http://127.0.0.1:1", keyFile: k } }
targets: { dns: { api: dyndns2, ${where}${user}, password: { file: k } } }
names: [{ name: home, zone: example.org, ipv4: wan0 }]
`;
  writeFileSync(join(folder, "moor.yaml"), text.replace("file: k", "env: PASSWORD"));
  const read = readConfig("moor.yaml", { PASSWORD: password }, folder);
  rmSync(folder, { recursive: true });
  return read;
}

/** The request that a service gets, as the source describes it that its row names. */
async function requestTo(service: string, more: Partial<ReplaceRequest> = {}): Promise<string> {
  const read = configWith(service.startsWith("https:") ? `url: "${service}"` : `service: ${service}`);
  const config = read.ok ? (read.value.targets.get("dns") as Dyndns2Target) : undefined;
  if (!config) throw new Error(JSON.stringify(read));
  let sent = "";
  const opened = await dyndns2.open(config, async () => ({
    send: async ({ path }) => {
      sent = path;
      return { kind: "failed", because: "", todo: "" };
    },
    stream: async () => ({ kind: "ended" }),
    close: () => undefined,
  }));
  await opened.replace({ ...request, ...more }, never);
  return config.url.pathname + sent;
}

const ipv6 = { family: "ipv6", value: "2001:db8::9", otherAddress: "9.9.9.9" } as const;
const ipv6Only = { family: "ipv6", value: "2001:db8::9" } as const;

test.each<[string, Partial<ReplaceRequest>, string]>([
  ["noip", {}, "/nic/update?hostname=home.example.org&myip=9.9.9.9"],
  ["noip", ipv6, "/nic/update?hostname=home.example.org&myip=2001:db8::9"],
  ["strato", {}, "/nic/update?hostname=home.example.org&myip=9.9.9.9"],
  ["strato", ipv6, "/nic/update?hostname=home.example.org&myip=2001:db8::9,9.9.9.9"],
  ["ipv64", ipv6, "/nic/update?hostname=home.example.org&myipv6=2001:db8::9&myip=9.9.9.9"],
  ["ipv64", ipv6Only, "/nic/update?hostname=home.example.org&myipv6=2001:db8::9"],
  ["ydns", {}, "/api/v1/update/?host=home.example.org&ip=9.9.9.9"],
  ["ydns", ipv6, "/api/v1/update/?host=home.example.org&ip=2001:db8::9"],
  ["dnshome", ipv6, "/dyndns.php?hostname=home.example.org&ip6=2001:db8::9&ip=9.9.9.9"],
  ["allinkl", {}, "/?hostname=home.example.org&myip=9.9.9.9"],
  ["allinkl", ipv6, "/?hostname=home.example.org&myip6=2001:db8::9&myip=9.9.9.9"],
  ["inwx", ipv6, "/nic/update?hostname=home.example.org&myipv6=2001:db8::9&myip=9.9.9.9"],
  ["core-networks", {}, "/?hostname=home.example.org&myip=9.9.9.9&keepipv6=1"],
  ["core-networks", ipv6, "/?hostname=home.example.org&myip=2001:db8::9&keepipv4=1"],
  ["dyn", ipv6, "/nic/update?hostname=home.example.org&myip=2001:db8::9,9.9.9.9"],
  ["desec", {}, "/?hostname=home.example.org&myip=9.9.9.9&myipv6=preserve"],
  ["https://update.dedyn.io", ipv6Only, "/?hostname=home.example.org&myipv6=2001:db8::9&myip=preserve"],
  [
    "https://api.dynu.com",
    ipv6Only,
    "/nic/update?username=me&password=p4ss%20w%C3%B6rd%3A%20%E5%AF%86%E7%A0%81%200123456789&hostname=home.example.org&myipv6=2001:db8::9&myip=no",
  ],
  ["https://dyndns.strato.com/nic/update", ipv6, "/nic/update?hostname=home.example.org&myip=2001:db8::9,9.9.9.9"],
  ["https://ydns.io/nic/update", ipv6, "/nic/update?hostname=home.example.org&myip=2001:db8::9"],
  ["https://dns.example.org", ipv6, "/nic/update?hostname=home.example.org&myip=2001:db8::9"],
])("%s with %j gets %s", async (service, more, request) => expect(await requestTo(service, more)).toBe(request));

/** `Company NameOfProgram/OSVersion-ReleaseVersion contact`, from https://www.noip.com/integrate/request. */
const noipAgent = /^\S+ [^\s/]+\/[^\s/]+-\S+ (\S+@\S+)$/;

test.each([
  ["service: noip, user: me@example.org", "me@example.org"],
  ["service: noip, user: me, contact: admin@example.org", "admin@example.org"],
  ["service: noip, user: me@example.org, contact: admin@example.org", "admin@example.org"],
])("%s is announced to No-IP by its rule", (where, contact) => {
  expect(noipAgent.exec(agentOf(where))?.[1]).toBe(contact);
});

it("sends no contact to No-IP if there is none", () => {
  expect(agentOf("service: noip, user: me")).toMatch(/^moor moor\/\S+$/);
});

it("tells other services its name and version, and not the mail address of the user", () => {
  expect(agentOf("service: strato, user: me@example.org")).toMatch(/^moor\/\d\S+$/);
});

function agentOf(where: string): string {
  const read = configWith(where);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  return (read.value.targets.get("dns") as Dyndns2Target).agent;
}
