import { describe, expect, test } from "vitest";
import { twoMoors } from "./two-moors.ts";

const rig = twoMoors();

const published = async (zone: string, name: string, type = "A"): Promise<void> =>
  await expect.poll(async () => (await rig.front().state(zone, name, type))?.state).toBe("published");

describe("a first fill", () => {
  test("shows what differs, and takes theirs only when the operator says so", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await rig.zone([
      ["www", "A", "192.0.2.1"],
      ["mail", "MX", "10 mail.example.net."],
    ]);
    await front.put(zone, "here", "A", ["192.0.2.9"]);
    const provider = await rig.provider();
    const { preview } = await front.ok("GET", `/zones/${zone}/publication/preview?provider=${provider}`);
    expect(preview).toMatchObject({
      service: "Hetzner",
      equal: 0,
      only_here: [{ name: "here", type: "A", ttl: 300, values: ["192.0.2.9"] }],
      only_there: [
        { name: "mail", type: "MX" },
        { name: "www", type: "A", values: ["192.0.2.1"] },
      ],
      left: [],
    });
    const before = await there.lines(zone);
    expect((await front.lines(zone)).length).toBe(1);
    const { publication } = await rig.publish(zone);
    expect(publication).toMatchObject({ provider, service: "Hetzner", drift: "ask", trouble: null });
    expect(await front.lines(zone)).toEqual(before);
    expect(await there.lines(zone)).toEqual(before);
    expect((await front.ok("GET", `/zones/${zone}/publication`)).publication.counts).toEqual({
      ...{ published: 2, waiting: 0, refused: 0, drifted: 0 },
    });
  });

  test("with ours, makes the provider equal to the zone here", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await rig.zone([["old", "A", "192.0.2.1"]]);
    await front.put(zone, "new", "A", ["192.0.2.2"]);
    await rig.publish(zone, { fill: "ours" });
    await expect.poll(() => there.lines(zone)).toEqual(["new 300 A 192.0.2.2"]);
    await published(zone, "new");
  });

  test("deletes the other sets of a name before it gets a CNAME", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await rig.zone([
      ["www", "A", "192.0.2.1"],
      ["www", "TXT", '"x"'],
    ]);
    await front.put(zone, "www", "CNAME", ["example.net."]);
    await rig.publish(zone, { fill: "ours" });
    await expect.poll(() => there.lines(zone)).toEqual(["www 300 CNAME example.net."]);
    await published(zone, "www", "CNAME");
  });

  test("is refused if the provider's zone has changed since it was shown", async () => {
    const zone = await rig.zone();
    const provider = await rig.provider();
    const { preview } = await rig.front().ok("GET", `/zones/${zone}/publication/preview?provider=${provider}`);
    await rig.there().put(zone, "www", "A", ["192.0.2.1"]);
    const body = { provider, digest: preview.digest, fill: "theirs" };
    const { status, json } = await rig.front().call("POST", `/zones/${zone}/actions/publish`, body);
    expect([status, json.error.message]).toEqual([409, "the zone, here or at Hetzner, has changed since it was shown"]);
    expect((await rig.front().ok("GET", `/zones/${zone}/publication`)).publication).toBe(null);
  });
});

describe.each(["hetzner", "hetzner-v1", "moor"])("at %s", (kind) => {
  test("a write of a token for one name is at the provider, and its action ends", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await rig.zone([["home", "A", "192.0.2.1"]]);
    await rig.publish(zone, { provider: await rig.provider(kind) });
    const token = await front.newToken({ access: "write", zones: [zone], sets: [{ owner: "home" }] });
    const path = `/zones/${zone}/rrsets/home/A/actions/set_records`;
    const { action } = await front.ok("POST", path, { records: [{ value: "192.0.2.2" }] }, token);
    expect(action.status).toBe("running");
    const ended = async () => (await front.ok("GET", `/actions/${action.id}`, undefined, token)).action.status;
    await expect.poll(ended).toBe("success");
    expect(await there.lines(zone)).toEqual(["home 300 A 192.0.2.2"]);
    await published(zone, "home");
    await front.ok("DELETE", `/zones/${zone}/rrsets/home/A`);
    await expect.poll(() => there.lines(zone)).toEqual([]);
  });
});

describe("drift", () => {
  const drifted = async (options: object) => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone, options);
    await rig.there().put(zone, "www", "A", ["192.0.2.66"]);
    return zone;
  };

  test("is found by a write, shown, and not overwritten", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await drifted({});
    const { action } = await front.put(zone, "www", "A", ["192.0.2.2"]);
    await expect.poll(async () => (await front.action(action.id)).status).toBe("error");
    expect(await front.state(zone, "www")).toMatchObject({
      state: "drifted",
      ours: { values: ["192.0.2.2"] },
      theirs: { values: ["192.0.2.66"] },
    });
    expect(await there.lines(zone)).toEqual(["www 300 A 192.0.2.66"]);
    await front.ok("POST", `/zones/${zone}/rrsets/www/A/actions/put_ours_back`, {});
    await published(zone, "www");
    expect(await there.lines(zone)).toEqual(["www 300 A 192.0.2.2"]);
  });

  test("ends when theirs is taken", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await drifted({});
    await front.put(zone, "www", "A", ["192.0.2.2"]);
    await expect.poll(async () => (await front.state(zone, "www")).state).toBe("drifted");
    await front.ok("POST", `/zones/${zone}/rrsets/www/A/actions/take_theirs`, {});
    await published(zone, "www");
    for (const moor of [front, there]) expect(await moor.lines(zone)).toEqual(["www 300 A 192.0.2.66"]);
  });

  test("by the rule ours, both get what is here", async () => {
    const zone = await drifted({ drift: "ours" });
    await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
    for (const moor of [rig.front(), rig.there()])
      await expect.poll(() => moor.lines(zone)).toEqual(["www 300 A 192.0.2.2"]);
    await published(zone, "www");
  });
});

describe("confirm: provider", () => {
  const confirmedToken = (zone: string) =>
    rig.front().newToken({ access: "write", zones: [zone], sets: [{ owner: "www" }], confirm: "provider" });

  test("answers a write of such a token when the provider has it", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone);
    const token = await confirmedToken(zone);
    for (const value of ["192.0.2.2", "192.0.2.3"]) {
      const path = `/zones/${zone}/rrsets/www/A/actions/set_records`;
      await rig.front().ok("POST", path, { records: [{ value }] }, token);
      expect(await rig.there().lines(zone)).toEqual([`www 300 A ${value}`]);
    }
  });

  test("answers a request that asks for it with an error if the provider does not take it", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone);
    await rig.there().put(zone, "www", "A", ["192.0.2.66"]);
    const path = `/zones/${zone}/rrsets/www/A/actions/set_records?confirm=provider`;
    const { status, json } = await rig.front().call("POST", path, { records: [{ value: "192.0.2.2" }] });
    expect([status, json.error.message]).toEqual([422, expect.stringContaining("somebody changed this set")]);
  });

  test("waits until the rule of the zone has put ours back", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone, { drift: "ours" });
    await rig.there().put(zone, "www", "A", ["192.0.2.66"]);
    const path = `/zones/${zone}/rrsets/www/A/actions/set_records?confirm=provider`;
    await rig.front().ok("POST", path, { records: [{ value: "192.0.2.2" }] });
    expect(await rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.2"]);
  });

  test("by dyndns2, answers good when the provider has it", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone);
    const authorization = `Basic ${Buffer.from(`x:${await confirmedToken(zone)}`).toString("base64")}`;
    const url = `${rig.front().service.url}/nic/update?hostname=www.${zone}&myip=192.0.2.7`;
    const answer = await fetch(url, { headers: { authorization } });
    expect(await answer.text()).toBe("good 192.0.2.7\n");
    expect(await rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.7"]);
  });
});

describe("at the door", () => {
  test("what the provider would refuse is refused, and the message names it", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone, { provider: await rig.provider("hetzner-v1") });
    const change = (name: string, type: string, values: readonly string[], ttl: number) =>
      rig.front().call("POST", `/zones/${zone}/changes`, {
        changes: [{ name, type, ttl, records: values.map((value) => ({ value })) }],
      });
    const ns = await change("@", "NS", ["ns1.example.com."], 300);
    expect([ns.status, ns.json.error.message]).toEqual([422, expect.stringContaining("those of Hetzner")]);
  });

  test("what signing makes is refused, because it would never be published", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone, { provider: await rig.provider("moor") });
    const { zonefile } = await rig.front().ok("GET", `/zones/${zone}/zonefile`);
    const body = { zonefile: `${zonefile}\nwww 300 CDS 0 0 0 00\n` };
    const { status, text } = await rig.front().call("POST", `/zones/${zone}/actions/import_zonefile`, body);
    expect([status, text]).toEqual([422, expect.stringContaining("made by signing")]);
  });

  test("undo works, and is published", async () => {
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    await rig.publish(zone);
    await rig.front().put(zone, "www", "A", ["192.0.2.2"]);
    await published(zone, "www");
    const { serial } = (await rig.front().ok("GET", `/zones/${zone}`)).zone;
    await rig.front().ok("POST", `/zones/${zone}/history/${serial}/undo`, {});
    await expect.poll(() => rig.there().lines(zone)).toEqual(["www 300 A 192.0.2.1"]);
  });
});

describe("the token of a provider", () => {
  test("is not in any answer, nor readable in the store", async () => {
    await rig.provider();
    const { text } = await rig.front().call("GET", "/providers");
    expect(text).not.toContain(rig.there().token);
    const [provider] = await rig.front().service.store.providers();
    expect(JSON.stringify(provider)).not.toContain(rig.there().token);
  });

  test("can be replaced while it does not work, without a restart", async () => {
    const [front, there] = [rig.front(), rig.there()];
    const zone = await rig.zone([["www", "A", "192.0.2.1"]]);
    const token = await there.newToken({ access: "write" });
    await front.ok("POST", "/providers", { name: "second", kind: "hetzner", url: there.service.url, token });
    await rig.publish(zone, { provider: "second" });
    const tokens = await there.service.store.tokens();
    await there.service.store.revokeToken(tokens.at(-1)?.id ?? 0, Date.now());
    const { action } = await front.put(zone, "www", "A", ["192.0.2.2"]);
    await expect
      .poll(async () => (await front.ok("GET", `/zones/${zone}/publication`)).publication.trouble?.text)
      .toMatch(/token/);
    expect(await front.state(zone, "www")).toMatchObject({ state: "waiting" });
    expect((await front.action(action.id)).status).toBe("running");
    await front.ok("POST", "/providers/second/actions/replace_token", {
      token: await there.newToken({ access: "write" }),
    });
    await expect.poll(async () => (await front.action(action.id)).status).toBe("success");
    expect((await front.ok("GET", `/zones/${zone}/publication`)).publication.trouble).toBe(null);
  });
});
