import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Json, twoMoors } from "./two-moors.ts";

/** Milliseconds until a request whose outcome was lost can be carried out no more, and every read shows if it was. */
const openFor = 75_000;
/** Milliseconds by which the clock of the front is ahead. */
let ahead = 0;
const rig = twoMoors({ now: () => Date.now() + ahead });

/** What the proxy between the front and the provider does with the next writes. */
type Fault =
  | "none"
  | "lose the answer"
  | "lose the request"
  /** After one of these two: nothing can be read until the test goes on, so nothing is known. */
  | "lose everything"
  | { readonly status: number; readonly retryAfter?: number };

let proxy: Server;
let fault: Fault = "none";
let requests: string[] = [];
beforeAll(async () => {
  proxy = createServer((asked, reply) => {
    const { method = "", url = "" } = asked;
    requests.push(`${method} ${url}`);
    const isWrite = method !== "GET";
    const now = fault;
    if (isWrite && (now === "lose the answer" || now === "lose the request")) fault = "lose everything";
    if (now === "lose everything" || (isWrite && now === "lose the request")) return void asked.socket.destroy();
    if (isWrite && typeof now === "object") {
      const { status, retryAfter } = now;
      asked.resume();
      reply.writeHead(status, { "content-type": "application/json", "retry-after": String(retryAfter ?? "") });
      return void reply.end(
        JSON.stringify({ error: { code: "invalid_input", message: "not on a Sunday", details: null } }),
      );
    }
    const target = new URL(url, rig.there().service.url);
    const passed = request(target, { method, headers: asked.headers }, (answer) => {
      if (isWrite && now === "lose the answer") return void answer.resume().once("end", () => asked.socket.destroy());
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = urlOfProxy();
  await rig.front().ok("POST", "/providers", { name: "proxied", kind: "hetzner", url, token: rig.there().token });
});
const urlOfProxy = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
afterAll(() => proxy.close());
beforeEach(() => {
  fault = "none";
});

async function publishedZone(options: Json = {}): Promise<string> {
  const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
  await rig.publish(zone, { provider: "proxied", ...options });
  return zone;
}

const stateOf = async (zone: string) => (await rig.front().state(zone, "www"))?.state;

describe("an outcome that is not known", () => {
  test.each(["lose the answer", "lose the request"] as const)(
    "%s: it is waiting until it was read again",
    async (kind) => {
      const zone = await publishedZone();
      fault = kind;
      requests = [];
      const { action } = await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
      await expect.poll(() => requests.some((each) => !each.startsWith("GET"))).toBe(true);
      expect(await stateOf(zone)).toBe("waiting");
      // Back to what the provider is last known to hold: that must not count as published.
      await rig.front().put(zone, "www", "A", ["192.0.2.1"]);
      expect(await stateOf(zone)).toBe("waiting");
      fault = "none";
      // By then, a read shows what the provider holds for good. The next try comes with the next write.
      ahead += openFor;
      await rig.front().ok("PUT", `/zones/${zone}/rrsets/www/A`, { labels: { a: "b" } });
      await expect.poll(() => stateOf(zone)).toBe("published");
      expect(await rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.1"]);
      await expect.poll(async () => (await rig.front().action(action.id)).status).toBe("success");
    },
  );
});

describe("what the provider says", () => {
  test("a refusal has its words, and the next content is sent", async () => {
    const zone = await publishedZone();
    fault = { status: 422 };
    const { action } = await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
    await expect.poll(() => stateOf(zone)).toBe("refused");
    expect((await rig.front().state(zone, "www")).because).toMatch(/not on a Sunday/);
    // The action ends after its sets.
    await expect.poll(async () => (await rig.front().action(action.id)).error?.message).toMatch(/not on a Sunday/);
    fault = "none";
    await rig.front().ok("POST", `/zones/${zone}/rrsets/www/A/actions/publish_again`, {});
    await expect.poll(() => stateOf(zone)).toBe("published");
    expect(await rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.2"]);
  });

  test("after 429 it is left alone for as long as it said, for all zones of the token; then the latest value is sent", async () => {
    const [zone, other] = [await publishedZone(), await publishedZone()];
    fault = { status: 429, retryAfter: 2 };
    await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
    await expect
      .poll(async () => (await rig.front().ok("GET", `/zones/${zone}/publication`)).publication.trouble)
      .not.toBe(null);
    fault = "none";
    requests = [];
    const since = performance.now();
    for (const value of ["192.0.2.3", "192.0.2.4"]) await rig.front().put(zone, "www", "A", [value]);
    await rig.front().put(other, "www", "A", ["192.0.2.5"]);
    expect(requests).toEqual([]);
    await expect.poll(() => stateOf(zone)).toBe("published");
    await expect.poll(() => stateOf(other)).toBe("published");
    expect(performance.now() - since).toBeGreaterThan(1_000);
    expect(await rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.4"]);
    const writes = requests.filter((each) => each.includes(zone) && !each.startsWith("GET"));
    expect(writes).toHaveLength(1);
  });
});

test("a preview respects what the provider said to the publisher", async () => {
  // An account of its own: nothing more is sent with its token.
  const token = rig.there().token;
  await rig.front().ok("POST", "/providers", { name: "limited", kind: "hetzner", url: urlOfProxy(), token });
  const zone = await publishedZone({ provider: "limited" });
  const next = await rig.zone([["www", "A", "192.0.2.1"]]);
  fault = { status: 429, retryAfter: 600 };
  await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
  const trouble = async () => (await rig.front().ok("GET", `/zones/${zone}/publication`)).publication.trouble;
  await expect.poll(trouble).not.toBe(null);
  fault = "none";
  requests = [];
  const { status, text } = await rig.front().call("GET", `/zones/${next}/publication/preview?provider=limited`);
  expect([status, requests]).toEqual([503, []]);
  expect(text).toMatch(/Hetzner takes requests again in \d+ seconds/);
});

test("a new token does not wait for what the provider said about the old one", async () => {
  const token = rig.there().token;
  await rig.front().ok("POST", "/providers", { name: "spent", kind: "hetzner", url: urlOfProxy(), token });
  const zone = await publishedZone({ provider: "spent" });
  fault = { status: 429, retryAfter: 600 };
  await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
  const trouble = async () => (await rig.front().ok("GET", `/zones/${zone}/publication`)).publication.trouble;
  await expect.poll(trouble).not.toBe(null);
  fault = "none";
  await rig.front().ok("POST", "/providers/spent/actions/replace_token", { token });
  await expect.poll(() => stateOf(zone)).toBe("published");
  expect(await rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.2"]);
});

describe("drift reads", () => {
  test("find what nobody wrote here: changed, created and deleted sets", async () => {
    const zone = await publishedZone({ read_every: 0 });
    const there = rig.there();
    await there.put(zone, "www", "A", ["192.0.2.66"]);
    await there.put(zone, "new", "A", ["192.0.2.67"]);
    // A new interval is looked at immediately, and the last read was long ago by then.
    await rig
      .front()
      .service.store.notePublishedZone((await rig.front().ok("GET", `/zones/${zone}`)).zone.id, { readAt: 0 });
    await rig.front().ok("POST", `/zones/${zone}/actions/change_publication`, { read_every: 60 });
    await expect.poll(() => stateOf(zone)).toBe("drifted");
    expect(await rig.front().state(zone, "new")).toMatchObject({
      state: "drifted",
      ours: null,
      theirs: { values: ["192.0.2.67"] },
    });
    await rig.front().ok("POST", `/zones/${zone}/rrsets/new/A/actions/take_theirs`, {});
    await rig.front().ok("POST", `/zones/${zone}/rrsets/www/A/actions/put_ours_back`, {});
    const both = ["new 300 A 192.0.2.67", "www 300 A 192.0.2.1"];
    for (const moor of [rig.front(), there]) await expect.poll(() => moor.lines(zone)).toEqual(both);
    await expect.poll(() => stateOf(zone)).toBe("published");
  });

  test("are all that a zone with nothing to do sends", async () => {
    const zone = await publishedZone();
    await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
    await expect.poll(() => stateOf(zone)).toBe("published");
    requests = [];
    // Labels and other zones are nothing to do.
    await rig.front().ok("PUT", `/zones/${zone}/rrsets/www/A`, { labels: { a: "b" } });
    await rig.front().put(await rig.zone(), "x", "A", ["192.0.2.1"]);
    expect(requests).toEqual([]);
  });
});
