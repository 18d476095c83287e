import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { node } from "../rig/namespace.ts";
import type { Ended, StartedProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { openRouter, type Router, sourceProcess } from "../rig/updater/router.ts";

/** A real miniupnpd, and a machine behind it that knows nothing about its router but the route. */
let folder: string;
let router: Router;
let server: StartedProcess;
/** Reads the sources there. One process: most of a reading would be its start. */
let reader: StartedProcess;
/** Started together: most of the time goes by waiting for the search. */
let shown: Promise<Ended>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-igd-"));
  writeFileSync(join(folder, "token"), "t", { mode: 0o600 });
  router = await openRouter(folder, "81.2.69.142");
  server = await router.serve();
  shown = router.run([node, builtProgram(), "interfaces", "--config", configOf("any")]);
  reader = router.start(sourceProcess(), { channel: true });
});
afterAll(async () => {
  await router.close();
  rmSync(folder, { recursive: true });
});

const sources = {
  any: "{ kind: igd }",
  upnp: "{ kind: igd, protocol: upnp }",
  natpmp: "{ kind: igd, protocol: nat-pmp }",
  pcp: "{ kind: igd, protocol: pcp }",
  byUrl: "{ kind: igd, url: 'http://192.168.77.1:5000/rootDesc.xml' }",
};

function configOf(...names: readonly (keyof typeof sources)[]): string {
  const file = join(folder, `${names.join("-")}.yaml`);
  const entries = names.map((name) => `  ${name}: ${sources[name]}\n`).join("");
  const target = "targets: { dns: { url: 'https://dns.test', token: { file: token } } }";
  writeFileSync(
    file,
    `sources:\n${entries}${target}\nnames: [{ name: home, zone: example.org, source: ${names[0]}, ipv4: true }]\n`,
  );
  return file;
}

async function ask(message: string): Promise<unknown> {
  const answered = new Promise((resolve) => reader.child.once("message", resolve));
  reader.child.send(message);
  const ended = reader.ended.then(({ err }) => Promise.reject(new Error(err)));
  return await Promise.race([answered, ended]);
}

/** What each source said. */
async function read(...names: readonly (keyof typeof sources)[]): Promise<Readonly<Record<string, unknown>>> {
  const said = (await ask(configOf(...names))) as Readonly<Record<string, Said>>;
  return Object.fromEntries(
    Object.entries(said).map(([name, { because, report }]) => [name, because ?? report?.[0]?.[1].ipv4[0]?.text]),
  );
}
type Said = { readonly because?: string; readonly report?: readonly [string, Reported][] };
type Reported = { readonly ipv4: readonly { readonly text: string }[] };

it("reads the address by each protocol, and leaves no mapping behind", async () => {
  const address = "81.2.69.142";
  // On a busy machine, a reply may come after the source's own limit; the updater would ask again too.
  const unread = new Set(["any", "upnp", "natpmp", "pcp"] as const);
  await until(
    async () => {
      const said = await read(...unread);
      for (const name of unread) if (said[name] === address) unread.delete(name);
      return unread.size === 0;
    },
    { what: () => `${[...unread].join(", ")} to be read` },
  );
  expect((await router.run(["natpmpc", "-g", router.address])).out).toContain(`Public IP address : ${address}`);
  expect(server.out() + server.err()).toMatch(/PCP request received/);
  expect(await router.rules()).not.toMatch(/dnat|192\.168\.77\.2/);
});

it("a router's address is shown by moor interfaces", async () => {
  const { code, out } = await shown;
  expect(out).toMatch(/^internet +81\.2\.69\.142 +A +would be used$/m);
  expect(out).toMatch(/any \(igd\) can push changes/);
  expect(code).toBe(0);
});

it("a router is found, with its name, without a config", async () => {
  expect(await ask("find")).toEqual([
    { kind: "igd", name: "Attic router", address: router.address, external: "81.2.69.142", isOwn: true },
  ]);
});

it("pushes a new address, and the loss of an address", async () => {
  const process = router.start(sourceProcess(configOf("any")));
  await process.says(/81\.2\.69\.142/);
  await router.readdress("81.2.69.143");
  await process.says(/81\.2\.69\.143/);
  await router.readdress(undefined);
  await process.says(/no external address at the moment/);
  await router.readdress("81.2.69.142");
  await process.says(/81\.2\.69\.142.*81\.2\.69\.143.*81\.2\.69\.142/s);
  await process.stop();
  // Nobody polled meanwhile: one subscription, which was ended.
  const log = server.out() + server.err();
  expect(log.match(/ SUBSCRIBE /g)).toHaveLength(1);
  expect(log.match(/ UNSUBSCRIBE /g)).toHaveLength(1);
});

it("falls back to NAT-PMP and PCP where UPnP is off", async () => {
  await router.serve(["enable_upnp=no"]);
  expect(await read("any", "upnp")).toEqual({
    any: "81.2.69.142",
    upnp: "the router 192.168.77.1 does not answer upnp",
  });
});

it("falls back to NAT-PMP where UPnP fails over HTTP, at the address that is searched or in `url:`", async () => {
  await router.serve();
  const blocked = "table inet block { chain out { type filter hook output priority 0; tcp dport 5000 reject; }; }";
  expect((await router.run(["nft", blocked])).err).toBe("");
  expect(await read("any", "upnp", "byUrl")).toEqual({
    any: "81.2.69.142",
    upnp: expect.stringMatching(/192\.168\.77\.1:5000/),
    byUrl: "81.2.69.142",
  });
  await router.run(["nft", "delete table inet block"]);
});

it("reads a router of version 1, and one without NAT-PMP", async () => {
  const other = await router.serve(["force_igd_desc_v1=yes", "enable_natpmp=no"]);
  expect(await read("any", "natpmp")).toEqual({
    any: "81.2.69.142",
    natpmp: "the router 192.168.77.1 does not answer nat-pmp",
  });
  expect(other.out() + other.err()).toContain("WANIPConnection:1#GetExternalIPAddress");
});

it("knows nothing without an answer", async () => {
  await router.stopServing();
  expect(await read("any")).toEqual({ any: "the router 192.168.77.1 does not answer UPnP, NAT-PMP or PCP" });
});
