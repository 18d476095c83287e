import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { remoteCallers } from "../../../../test/rig/records/remote-callers.ts";
import type { Scope } from "../../../core/may.ts";
import type { RecordType } from "../../../core/rdata/table.ts";

const paths = ["/nic/update", "/update", "/v3/update", "/nic/update/", "/update/", "/v3/update/"];
const json = { "content-type": "application/json" };

describe("dyndns2", () => {
  let rig: Awaited<ReturnType<typeof remoteCallers>>;
  let token: string;
  let zone: string;
  const caller = "203.0.113.9";

  beforeEach(async () => {
    rig = await remoteCallers(100, {}, ["dyndns"]);
    token = await rig.newToken();
    zone = await newZone("example.org");
    await newRecord(zone, "home", "A", "192.0.2.1");
    await newRecord(zone, "six", "AAAA", "2001:db8:1:2::abcd");
  });
  afterEach(() => rig.close());

  const actor = { account: 1, label: "test", scope: { access: "write" } as const };
  const newZone = async (name: string): Promise<string> => {
    const made = await rig.service.createZone(actor, { name, ttl: 60 });
    if (made.kind !== "done") throw new Error("no zone");
    return made.zone.id;
  };
  const newRecord = async (zoneId: string, name: string, type: RecordType, value: string): Promise<string> => {
    const made = await rig.service.createRecord(actor, zoneId, { type, name, value, text: value, ttl: 60 });
    if (made.kind !== "done") throw new Error("no record");
    return made.recordInZone.record.id;
  };
  const basic = (secret: string, user = "anyone") => ({
    authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`,
  });
  const update = async (query: string, secret = token, from = caller, path = "/nic/update") =>
    await rig.call(`${path}?${query}`, basic(secret), from);
  const lines = async (query: string, secret = token, from = caller) => (await update(query, secret, from)).body;
  const has = async (name: string, zoneId = zone): Promise<readonly string[]> => {
    const found = await rig.service.records(actor, { zone: zoneId, name });
    return found.kind === "done" ? found.records.map(({ type, record }) => `${type} ${record.value}`) : [];
  };
  const serial = async () => (await rig.store.zone(1, zone))?.serial;

  it.each(paths)("writes nothing for a HEAD at %s", async (path) => {
    const url = `${path}?hostname=home.example.org&myip=192.0.2.2`;
    expect((await rig.call(url, basic(token), caller, "HEAD")).statusCode).toBe(404);
    expect(await has("home")).toEqual(["A 192.0.2.1"]);
  });

  it.each(paths)("answers at %s, in plain text", async (path) => {
    const answer = await update("hostname=home.example.org&myip=192.0.2.2", token, caller, path);
    expect([answer.statusCode, answer.body, answer.headers["content-type"]]).toEqual([
      200,
      "good 192.0.2.2\n",
      "text/plain; charset=utf-8",
    ]);
    expect(await has("home")).toEqual(["A 192.0.2.2"]);
  });

  describe("by POST", () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const post = async (query: string, headers: Record<string, string>, body?: string, secret = token) => {
      const answer = await rig.post(`/nic/update${query}`, { ...basic(secret), ...headers }, caller, body);
      return `${answer.statusCode} ${answer.body}`;
    };

    it.each([
      ["in the query", "?hostname=home.example.org&myip=192.0.2.2", {}, undefined],
      ["in the query, whatever the body is", "?hostname=home.example.org&myip=192.0.2.2", json, "{}"],
      ["in a form", "", form, "hostname=home.example.org&myip=192.0.2.2"],
      ["in a form without a type", "", {}, "hostname=home.example.org&myip=192.0.2.2"],
      ["in both, of which the query counts", "?myip=192.0.2.2", form, "hostname=home.example.org&myip=192.0.2.3"],
    ])("%s", async (_, query, headers, body) => {
      expect(await post(query, headers, body)).toBe("200 good 192.0.2.2\n");
      expect(await has("home")).toEqual(["A 192.0.2.2"]);
    });

    it("refuses a body longer than a form, and a wrong token", async () => {
      expect(await post("", form, "hostname=home.example.org", "wrong")).toBe("401 badauth\n");
      expect(await post("", form, `hostname=${"x".repeat(20_000)}`)).toBe("413 911 Request body is too large\n");
      expect(rig.log()).toBe("");
    });
  });

  it("nochg: nothing is written when nothing has changed", async () => {
    await lines("hostname=home.example.org&myip=192.0.2.2");
    const before = await serial();
    expect(await lines("hostname=home.example.org&myip=192.0.2.2")).toBe("nochg 192.0.2.2\n");
    expect(await serial()).toBe(before);
  });

  it("keeps the record's id and TTL", async () => {
    const [before] = await rig.store.sets(await zoneNow(), { owner: "home" });
    await lines("hostname=home.example.org&myip=192.0.2.2");
    const [after] = await rig.store.sets(await zoneNow(), { owner: "home" });
    expect(after).toMatchObject({ ttl: 60, records: [{ id: before?.records[0]?.id, value: "192.0.2.2" }] });
  });
  const zoneNow = async () => {
    const found = await rig.store.zone(1, zone);
    if (found === undefined) throw new Error("no zone");
    return found;
  };

  it.each([
    ["none", {}],
    ["another scheme", { authorization: "Bearer x" }],
    ["no password", { authorization: `Basic ${Buffer.from("name").toString("base64")}` }],
    ["an empty password", { authorization: `Basic ${Buffer.from("name:").toString("base64")}` }],
    ["a wrong password", { authorization: `Basic ${Buffer.from("name:wrong").toString("base64")}` }],
  ])("badauth: credentials with %s", async (_, headers) => {
    const answer = await rig.call("/nic/update?hostname=home.example.org", headers, caller);
    expect([answer.statusCode, answer.body]).toEqual([401, "badauth\n"]);
    expect(answer.headers["www-authenticate"]).toBe('Basic realm="moor"');
  });

  it("accepts any user name, also one that contains the host", async () => {
    const answer = await rig.call("/nic/update?hostname=home.example.org", basic(token, "home.example.org"), caller);
    expect(answer.body).toBe("good 203.0.113.9\n");
  });

  it.each([
    ["the address of the caller when none is given", "hostname=home.example.org", caller, "good 203.0.113.9\n"],
    [
      "the address of the caller when the parameters are empty",
      "hostname=home.example.org&myip=&myipv6=",
      caller,
      "good 203.0.113.9\n",
    ],
    ["an IPv4 caller on a dual-stack socket", "hostname=home.example.org", "::ffff:203.0.113.9", "good 203.0.113.9\n"],
    [
      "nothing for a caller on this machine, with the reason",
      "hostname=home.example.org",
      "127.0.0.1",
      "911 127.0.0.1 cannot be published: send an address as myip\n",
    ],
    [
      "an address that a caller on this machine gives",
      "hostname=home.example.org&myip=192.0.2.6",
      "127.0.0.1",
      "good 192.0.2.6\n",
    ],
    ["an IPv6 caller", "hostname=six.example.org", "2001:db8::9", "good 2001:db8::9\n"],
    ["myip with an IPv6 address", "hostname=six.example.org&myip=2001:DB8::1", caller, "good 2001:db8::1\n"],
    ["both", "hostname=home.example.org&myip=192.0.2.5&myipv6=2001:db8::5", caller, "good 192.0.2.5,2001:db8::5\n"],
    [
      "both families in myip",
      "hostname=home.example.org&myip=192.0.2.5,2001:db8::5",
      caller,
      "good 192.0.2.5,2001:db8::5\n",
    ],
    ["IPv4 written as IPv6", "hostname=home.example.org&myip=::ffff:192.0.2.20", caller, "good 192.0.2.20\n"],
    [
      "IPv6 beside an IPv4 line that is down",
      "hostname=six.example.org&myip=0.0.0.0&myipv6=2001:db8::5",
      caller,
      "good 2001:db8::5\n",
    ],
    ["IPv4 beside text", "hostname=home.example.org&myip=192.0.2.5&myipv6=(none)", caller, "good 192.0.2.5\n"],
    ["only myipv6", "hostname=six.example.org&myip=&myipv6=2001:db8::5", caller, "good 2001:db8::5\n"],
    [
      "other parameters",
      "system=dyndns&hostname=home.example.org&myip=192.0.2.5&wildcard=NOCHG&mx=&offline=NO",
      caller,
      "good 192.0.2.5\n",
    ],
  ])("accepts %s", async (_, query, from, answer) => {
    expect(await lines(query, token, from)).toBe(answer);
  });

  it("adds the family that the host does not have yet", async () => {
    await lines("hostname=home.example.org&myipv6=2001:db8::5");
    expect(await has("home")).toEqual(["A 192.0.2.1", "AAAA 2001:db8::5"]);
  });

  it("prefix/len replaces only the network part of existing addresses", async () => {
    await newRecord(zone, "six", "AAAA", "2001:db8:1:2:1::1");
    expect(await lines("hostname=six.example.org&myipv6=2001:db8:ffff:ff00::/56")).toBe(
      "good 2001:db8:ffff:ff02::abcd,2001:db8:ffff:ff02:1::1\n",
    );
    expect(await lines("hostname=six.example.org&myipv6=2001:db8:ffff:ff00::/56")).toMatch(/^nochg /);
    expect(await lines("hostname=home.example.org&myipv6=2001:db8:ffff:ff00::/56")).toBe("nochg\n");
  });

  it("a host with a dot inside a label is in its enclosing zone", async () => {
    await newZone("a.b.example.org");
    await newRecord(zone, "a\\.b", "A", "192.0.2.1");
    expect(await lines("hostname=a%5C.b.example.org&myip=192.0.2.2")).toBe("good 192.0.2.2\n");
  });

  it("several hosts: one line per host, one write per zone", async () => {
    const other = await newZone("other.example");
    await newRecord(other, "@", "A", "192.0.2.1");
    await newRecord(zone, "second", "A", "192.0.2.1");
    const before = (await serial()) ?? 0;
    const hosts =
      "home.example.org,nope.example.org,OTHER.example.,word,second.example.org,far.away.example,home.example.org";
    expect(await lines(`hostname=${hosts}&myip=192.0.2.2`)).toBe(
      "good 192.0.2.2\nnohost\ngood 192.0.2.2\nnotfqdn\ngood 192.0.2.2\nnohost\nnochg 192.0.2.2\n",
    );
    expect(await serial()).toBe(before + 1);
    expect(await has("@", other)).toContain("A 192.0.2.2");
  });

  it.each([
    ["notfqdn: no host name", "myip=192.0.2.1", "notfqdn\n"],
    ["notfqdn: an empty one", "hostname=", "notfqdn\n"],
    ["notfqdn: not a name", "hostname=a..b", "notfqdn\n"],
    ["nohost: no such zone", "hostname=home.example.com", "nohost\n"],
    ["nohost: no such name in the zone", "hostname=nope.example.org", "nohost\n"],
    [
      "numhost: too many",
      `hostname=${Array.from({ length: 21 }, (_, i) => `h${i}.example.org`).join(",")}`,
      "numhost\n",
    ],
    ["911: not an address", "hostname=home.example.org&myip=1.2.3.4.5", '911 "1.2.3.4.5" is not an address\n'],
    ["911: an IPv4 prefix", "hostname=home.example.org&myip=192.0.2.0/24", '911 "192.0.2.0/24" is not an address\n'],
    ["911: a second line", "hostname=home.example.org&myip=a%0Agood", '911 "a\\ngood" is not an address\n'],
    ["911: a line that is down", "hostname=home.example.org&myip=0.0.0.0", "911 0.0.0.0 cannot be published\n"],
    [
      "911: two addresses of one family",
      "hostname=home.example.org&myip=192.0.2.7,192.0.2.8&myipv6=2001:db8::5",
      "911 192.0.2.7 and 192.0.2.8 are of one family: send one of them\n",
    ],
    ["!donator: offline", "hostname=home.example.org&offline=YES", "!donator\n"],
  ])("%s", async (_, query, answer) => {
    const before = await serial();
    expect(await lines(query)).toBe(answer);
    expect(await serial()).toBe(before);
  });

  it.each<[string, Scope, string]>([
    ["nohost for a token for another zone", { access: "write", zones: ["x.example"] }, "nohost\n"],
    ["nohost for a token for another name", { access: "write", sets: [{ owner: "six" }] }, "nohost\n"],
    [
      "good for a token for this name",
      { access: "write", sets: [{ owner: "home", types: ["A"] }] },
      "good 203.0.113.9\n",
    ],
    ["badauth for a read-only token", { access: "read" }, "badauth\n"],
  ])("%s", async (_, scope, answer) => {
    expect(await lines("hostname=home.example.org", await rig.newToken(scope))).toBe(answer);
  });

  describe("a token for exactly this name in this zone", () => {
    const sets = [{ owner: "new", types: ["A", "AAAA"] as const }];
    const only: Scope = { access: "write", zones: ["example.org"], sets };
    const query = "hostname=new.example.org&myip=192.0.2.9&myipv6=2001:db8::9";

    it("creates its first records, with a short TTL", async () => {
      expect(await lines(query, await rig.newToken(only))).toBe("good 192.0.2.9,2001:db8::9\n");
      expect(await has("new")).toEqual(["A 192.0.2.9", "AAAA 2001:db8::9"]);
      const made = await rig.store.sets(await zoneNow(), { owner: "new" });
      expect(made.map(({ ttl }) => ttl)).toEqual([300, 300]);
    });

    it.each<[string, Scope, string, string]>([
      ["another name in its zone", only, "hostname=other.example.org&myip=192.0.2.9", "nohost\n"],
      ["only a prefix", only, "hostname=new.example.org&myipv6=2001:db8::/64", "nohost\n"],
      ["a token for this name in all zones", { access: "write", sets }, query, "nohost\n"],
      ["a token for the zone", { access: "write", zones: ["example.org"] }, query, "nohost\n"],
      ["a read-only one", { ...only, access: "read" }, query, "badauth\n"],
      ["a family that it may not write", { ...only, sets: [{ owner: "new", types: ["AAAA"] }] }, query, "nohost\n"],
    ])("creates nothing for %s", async (_, scope, asked, answer) => {
      expect(await lines(asked, await rig.newToken(scope))).toBe(answer);
      expect(await has("new")).toEqual([]);
    });

    it("says why beside a CNAME", async () => {
      await newRecord(zone, "new", "CNAME", "home.example.org.");
      expect(await lines(query, await rig.newToken(only))).toMatch(/^911 .*CNAME/);
    });
  });

  it("does not touch what the token may not see at the same name", async () => {
    const narrow = await rig.newToken({ access: "write", sets: [{ owner: "home", types: ["A"] }] });
    await newRecord(zone, "home", "TXT", '"kept"');
    await newRecord(zone, "home", "AAAA", "2001:db8::1");
    expect(await lines("hostname=home.example.org&myip=192.0.2.3", narrow)).toBe("good 192.0.2.3\n");
    expect(await lines("hostname=home.example.org&myipv6=2001:db8::3", narrow)).toBe("nohost\n");
    expect(await has("home")).toEqual(["A 192.0.2.3", "AAAA 2001:db8::1", 'TXT "kept"']);
  });

  it("911: when the zone refuses the address, with the reason", async () => {
    await rig.service.editSet(
      actor,
      { zone: { name: "example.org" }, name: "home", type: "A" },
      { kind: "lock", locked: true },
    );
    expect(await lines("hostname=home.example.org")).toBe("911 the A set at home is protected against changes\n");
  });

  it("abuse: when a token has used up its calls", async () => {
    for (let i = 0; i < 100; i += 1) await lines("hostname=home.example.org");
    const answer = await update("hostname=home.example.org");
    expect([answer.statusCode, answer.body, answer.headers["retry-after"]]).toEqual([429, "abuse\n", "1"]);
  });

  it("moves no local address to a public prefix, and merges two that become the same", async () => {
    await newRecord(zone, "six", "AAAA", "fd00::abcd");
    await newRecord(zone, "six", "AAAA", "2001:db8:9:9::abcd");
    expect(await lines("hostname=six.example.org&myipv6=2001:db8:5:5::/64")).toBe(
      "good 2001:db8:5:5::abcd,fd00::abcd\n",
    );
  });

  it("911: when the service itself fails, which is logged without the token", async () => {
    const broken = await remoteCallers(100, { zoneBy: () => Promise.reject(new Error("disk on fire")) }, ["dyndns"]);
    const secret = await broken.newToken();
    const answer = await broken.call("/nic/update?hostname=home.example.org", basic(secret), caller);
    const reason = `the service failed; its log has request ${String(answer.headers["x-request-id"])}`;
    expect([answer.statusCode, answer.body]).toEqual([500, `911 ${reason}\n`]);
    expect(broken.log()).toContain("disk on fire");
    expect(broken.log()).not.toContain(secret);
    await broken.close();
  });
});
