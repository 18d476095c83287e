import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openControl } from "../../../test/rig/updater/control.ts";
import { openLoop } from "../../../test/rig/updater/loop.ts";
import { createStatusKeeper } from "../report/status.ts";
import type { UpdateResult } from "../round/result.ts";
import type { StateFile } from "../round/state-file.ts";
import { createUpdaterPage, type PageVisitor } from "./http-page.ts";

const rest = { putBack: () => false, devices: () => new Map<string, never>() };
const ofTheConnection = ["date", "connection", "keep-alive"];

it("HEAD is GET without the body, and people who mistype a path get a page that says so", async () => {
  const loop = await openLoop();
  const folder = join(loop.folder, "pages");
  mkdirSync(folder);
  writeFileSync(join(folder, "updater.html"), "<!doctype html><title>moor</title>");
  const keeper = createStatusKeeper(() => loop.clock.now);
  const tools = { status: () => keeper.now(), check: () => undefined, silence: () => 0, ...rest };
  const { published } = loop.updater;
  const links = [{ service: "records" as const, url: "https://dns.example.org:8053", together: false }];
  const config = { ...loop.config, control: { host: "::1", port: 1, token: () => "", links } };
  const options = { config, published, now: () => loop.clock.now, pages: folder };
  const page = createUpdaterPage({ ...options, ...tools });
  const control = await openControl({ of: loop.config, ...tools, page });
  for (const path of ["/", "/page/state", "/page/config", "/status", "/metrics", "/health/live", "/nowhere"]) {
    const ask = async (method: string) => {
      const answer = await fetch(`http://127.0.0.1:${control.port}${path}`, { method });
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => !ofTheConnection.includes(name)));
      return { status: answer.status, headers, body: await answer.text() };
    };
    const [head, get] = [await ask("HEAD"), await ask("GET")];
    expect({ path, ...head }).toEqual({ path, ...get, body: "" });
    expect([path, get.status]).toEqual([path, path === "/nowhere" ? 404 : 200]);
  }
  const forPeople = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${control.port}${path}`, { headers: { accept: "text/html, */*" } });
    return [path, answer.status, answer.headers.get("content-type")];
  };
  expect(await forPeople("/nowhere")).toEqual(["/nowhere", 404, "text/html; charset=utf-8"]);
  expect(await forPeople("/status")).toEqual(["/status", 200, "application/json"]);
  const services = await fetch(`http://127.0.0.1:${control.port}/console/services`);
  expect(await services.json()).toEqual({ services: links, byPassword: false });
  await control.close();
  await loop.close();
});

it("Check now shows the current record, not the one of a moment ago", async () => {
  const loop = await openLoop("  - { name: home, zone: example.org, ipv4: wan0 }");
  const now = () => loop.clock.now;
  const keeper = createStatusKeeper(now);
  const tools = { status: () => keeper.now(), check: () => undefined, silence: () => keeper.silence(), ...rest };
  const page = createUpdaterPage({ config: loop.config, published: loop.updater.published, now, ...tools });
  const control = await openControl({ of: loop.config, ...tools, page });
  const origin = control.url;
  const published = async () => (await fetch(`${origin}/page/published`)).json();
  const holding = (value: string) => ({ published: { "home.example.org A": [value] } });
  expect(await published()).toEqual(holding("192.0.2.1"));
  Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: "192.0.2.66" });
  expect(await published()).toEqual(holding("192.0.2.1"));
  const check = async () => (await fetch(`${origin}/page/check`, { method: "POST", headers: { origin } })).status;
  expect(await check()).toBe(202);
  expect(await published()).toEqual(holding("192.0.2.66"));
  expect(await check()).toBe(429);
  // After the clock was set back, nobody has to wait until it has caught up.
  loop.clock.now -= 3_600_000;
  Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: "192.0.2.67" });
  expect(await published()).toEqual(holding("192.0.2.67"));
  expect(await check()).toBe(202);
  await control.close();
  await loop.close();
});

it("a change of a name that makes no sense is refused, and the file stays as it is", async () => {
  const loop = await openLoop();
  const before = readFileSync(loop.config.file, "utf8");
  const keeper = createStatusKeeper(() => loop.clock.now);
  const changing = { checkText: () => ({ ok: true as const, value: loop.config }), adopt: () => undefined };
  const tools = { status: () => keeper.now(), check: () => undefined, changing, ...rest };
  const { published } = loop.updater;
  const page = createUpdaterPage({ config: loop.config, published, now: () => loop.clock.now, ...tools });
  const ask = (method: string, path: string, body: string) =>
    page({ method, path, headers: {}, body, from: "127.0.0.1" }, "session");
  const { version } = ((await ask("GET", "/page/names", "")) as { body: { version: string } }).body;
  for (const namesEdit of ["{", "[]", "{}", JSON.stringify({ kind: "remove", index: "length", version })]) {
    for (const path of ["/page/names/preview", "/page/names/write"])
      expect([namesEdit, (await ask("POST", path, namesEdit))?.status]).toEqual([namesEdit, 400]);
  }
  expect(readFileSync(loop.config.file, "utf8")).toBe(before);
  await loop.close();
});

it("a record service that refuses the token is reported once, however many names it has", async () => {
  const loop = await openLoop(
    "  - { name: home, zone: example.org, ipv4: wan0 }\n  - { name: nas, zone: example.org, ipv4: wan0 }",
  );
  const keeper = createStatusKeeper(() => loop.clock.now);
  loop.says.service = () => ({ status: 401, body: {} });
  const { signal } = new AbortController();
  const state = { get: () => undefined } as unknown as StateFile;
  const round = await loop.updater.round(signal);
  keeper.note(round, state, loop.clock.now);
  const { services, names } = keeper.now();
  expect(services).toMatchObject([{ service: "dns", because: expect.stringMatching(/denied access/), records: 2 }]);
  expect(names.map(({ service }) => service)).toEqual(["dns", "dns"]);
  // A reload of the config forgets the replies, but not when the next attempt is due.
  const address = { text: "192.0.2.66" };
  const plan = { kind: "wait", because: "back-off", until: 0, address } as unknown as UpdateResult["plan"];
  const results = round.results.map(({ outcome, ...result }) => ({ ...result, plan }));
  keeper.note({ ...round, results, changed: [] }, state, loop.clock.now);
  expect(keeper.now().services).toEqual(services);
  expect(keeper.now().names.map(({ service }) => service)).toEqual(["dns", "dns"]);
  loop.says.service = () => undefined;
  loop.clock.now += 3_600_000;
  keeper.note(await loop.updater.round(signal), state, loop.clock.now);
  expect(keeper.now().services).toEqual([]);
  await loop.close();
});

it("a token is replaced only by those who have signed in, and the updater then reads it", async () => {
  const loop = await openLoop();
  const keeper = createStatusKeeper(() => loop.clock.now);
  let adopted = 0;
  const adopt = () => {
    adopted += 1;
  };
  const changing = { checkText: () => ({ ok: true as const, value: loop.config }), adopt };
  const tools = { status: () => keeper.now(), check: () => undefined, changing, ...rest };
  const { published } = loop.updater;
  const page = createUpdaterPage({ config: loop.config, published, now: () => loop.clock.now, ...tools });
  const send = async (asker: PageVisitor, body: object) => {
    const request = { method: "POST", path: "/page/token", headers: {}, body: JSON.stringify(body), from: "127.0.0.1" };
    return (await page(request, asker))?.status;
  };
  const token = { service: "dns", token: "n3w" };
  expect([await send("none", token), await send("forged", token), await send("nobody-asked", token)]).toEqual([
    401, 403, 403,
  ]);
  expect([await send("session", {}), await send("session", { ...token, token: "a b" }), adopted]).toEqual([
    400, 422, 0,
  ]);
  expect([await send("session", token), adopted]).toEqual([200, 1]);
  await loop.close();
});
