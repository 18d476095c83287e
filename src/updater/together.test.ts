import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Loop, openLoop } from "../../test/rig/updater/loop.ts";
import { type Asked, changesIn, changesService, type Reply, wanWith } from "../../test/rig/updater/services.ts";

/** Three hosts at a service with the calls of `moor records`, so that they are written in one request. */

const hosts = ["a", "b", "c"];
const names = hosts.map((host, i) => {
  const rule = host === "c" ? ", changesPerHour: 2" : "";
  return `  - { name: ${host}, zone: example.org, ipv6: { interface: wan0, host: "::${i + 1}" }${rule} }`;
});
const error = (status: number, message: string, headers = {}): Reply => ({
  status,
  headers,
  body: { error: { code: "some_code", message, details: null } },
});

let loop: Loop;
/** Answers instead of a write; the sets are those in its body or path. */
let instead: (asked: Asked) => Reply | undefined;

async function openHosts(settings = "") {
  instead = () => undefined;
  loop = await openLoop(names.join("\n"), () => 0.5, { api: "rrsets", settings });
  for (const name of hosts) loop.records.push({ id: name, type: "AAAA", name, value: "2001:db8::1", zone_id: "z1" });
  loop.says.service = (asked) => {
    const reply = asked.method === "POST" ? instead(asked) : undefined;
    return reply ?? changesService(loop.records)(asked);
  };
}
beforeEach(() => openHosts());
afterEach(() => loop.close());

const isTogether = ({ path }: Asked) => path.endsWith("/changes");
/** The names of each write, in order. */
const written = () =>
  loop
    .writes()
    .map((asked) =>
      (isTogether(asked) ? changesIn(asked.body).map(({ name }) => name) : [asked.path.split("/")[5]]).join("+"),
    );
const held = () => Object.fromEntries(hosts.map((name) => [name, loop.records.find(({ id }) => id === name)?.value]));
const all = (prefix: string) => Object.fromEntries(hosts.map((name, i) => [name, `${prefix}::${i + 1}`]));
const moveTo = (prefix: string) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([], [`${prefix}::ff`]) } });
  loop.service.asked.length = 0;
};
const inDoubt = (): readonly string[] => {
  const { entries } = JSON.parse(readFileSync(loop.config.stateFile, "utf8"));
  const doubtful = Object.entries(entries as Record<string, { inDoubt?: boolean }>).filter(([, each]) => each.inDoubt);
  return doubtful.map(([key]) => key.split(" ")[2] ?? "");
};

it("hosts of one zone are written in one request, and each stored address is in doubt before it", async () => {
  moveTo("2a00:1");
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect([written(), held(), inDoubt()]).toEqual([["a+b+c"], all("2a00:1"), []]);
  moveTo("2a00:2");
  let during: readonly string[] = [];
  instead = () => {
    during = inDoubt();
    return undefined;
  };
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect([written(), held(), during, inDoubt()]).toEqual([["a+b+c"], all("2a00:2"), hosts, []]);
  await loop.round();
  expect(written()).toEqual(["a+b+c"]);
});

it("hosts of which one is refused are written one by one; later, only the refused one is, until it succeeds", async () => {
  const isRefused = (asked: Asked) =>
    isTogether(asked) ? changesIn(asked.body).some(({ name }) => name === "b") : asked.path.includes("/b/");
  const refuse = (asked: Asked) => (isRefused(asked) ? error(422, "b is wrong") : undefined);
  instead = refuse;
  moveTo("2a00:1");
  expect(await loop.round()).toEqual(["done", "failed", "done"]);
  expect(written().toSorted()).toEqual(["a", "a+b+c", "b", "c"]);
  expect(held()).toEqual({ ...all("2a00:1"), b: "2001:db8::1" });
  moveTo("2a00:2");
  expect(await loop.round()).toEqual(["done", "waiting", "done"]);
  expect(written()).toEqual(["a+c"]);
  loop.clock.now += 300_000;
  moveTo("2a00:3");
  expect(await loop.round()).toEqual(["done", "failed", "waiting"]);
  expect(written().toSorted()).toEqual(["a", "b"]);
  instead = () => undefined;
  loop.clock.now += 3_600_000;
  moveTo("2a00:4");
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect(written().toSorted()).toEqual(["a+c", "b"]);
  loop.clock.now += 3_600_000;
  moveTo("2a00:5");
  await loop.round();
  expect([written(), held()]).toEqual([["a+b+c"], all("2a00:5")]);
});

it("hosts of one zone wait together as long as the service asks", async () => {
  instead = () => error(429, "slowly", { "retry-after": "60" });
  moveTo("2a00:1");
  expect(await loop.round()).toEqual(["failed", "failed", "failed"]);
  expect(await loop.round()).toEqual(["waiting", "waiting", "waiting"]);
  expect(written()).toEqual(["a+b+c"]);
  instead = () => undefined;
  loop.clock.now += 61_000;
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect(written()).toEqual(["a+b+c", "a+b+c"]);
});

it("hosts of one zone are all in doubt after an unknown outcome, even if the old prefix comes back", async () => {
  moveTo("2a00:1");
  await loop.round();
  moveTo("2a00:2");
  instead = () => ({ fault: "reset" });
  expect(await loop.round()).toEqual(["failed", "failed", "failed"]);
  expect(inDoubt()).toEqual(hosts);
  instead = () => undefined;
  await loop.reopen();
  moveTo("2a00:1");
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect([held(), inDoubt()]).toEqual([all("2a00:1"), []]);
});

it("hosts of one zone are written together again if the zone was changed meanwhile, and one by one if that goes on", async () => {
  let conflicts = 2;
  instead = (asked) => (isTogether(asked) && conflicts-- > 0 ? error(409, "the zone has changed") : undefined);
  moveTo("2a00:1");
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect(written()).toEqual(["a+b+c", "a+b+c", "a+b+c"]);
  conflicts = 3;
  moveTo("2a00:2");
  expect(await loop.round()).toEqual(["done", "done", "done"]);
  expect(written().toSorted()).toEqual(["a", "a+b+c", "a+b+c", "a+b+c", "b", "c"]);
});

it("a host that has to wait because of changesPerHour does not delay the others", async () => {
  for (const prefix of ["2a00:1", "2a00:2", "2a00:3"]) {
    moveTo(prefix);
    await loop.round();
  }
  expect(written()).toEqual(["a+b"]);
  expect(held()).toEqual({ ...all("2a00:3"), c: "2a00:2::3" });
});

it("with `compare: record`, hosts are written without those that another client has written already", async () => {
  await loop.close();
  await openHosts("compare: record");
  moveTo("2a00:1");
  await loop.round();
  const b = loop.records.find(({ id }) => id === "b");
  if (b) b.value = "2a00:2::2";
  moveTo("2a00:2");
  expect(await loop.round()).toEqual(["done", "nothing", "done"]);
  expect([written(), held(), inDoubt()]).toEqual([["a+c"], all("2a00:2"), []]);
});
