import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { reservedName } from "./zone-names.ts";

const own = {
  nameservers: ["ns1.example.net", "NS2.dns.example.org"],
  serviceNames: ["API.service.test", "*.wild.test", "192.0.2.1", "2001:db8::1"],
};

describe("a name that no single account should own", () => {
  it.each([
    ["co.uk", "public-suffix"],
    ["github.io", "public-suffix"],
    ["foo.ck", "public-suffix"],
    // Listed as *.sch.uk and so on: every name below is a suffix too, shared by many owners.
    ["sch.uk", "public-suffix"],
    ["kawasaki.jp", "public-suffix"],
    ["nom.br", "public-suffix"],
    ["in-addr.arpa", "public-suffix"],
    ["xn--55qx5d.cn", "public-suffix"],
    ["example.net", "name-server"],
    ["ns1.example.net", "name-server"],
    ["_acme-challenge.ns1.example.net", "name-server"],
    ["dns.example.org", "name-server"],
    ["example.org", "name-server"],
    ["api.service.test", "service-name"],
    ["service.test", "service-name"],
    ["_acme-challenge.api.service.test", "service-name"],
    ["wild.test", "service-name"],
    ["any.wild.test", "service-name"],
    ["catalog.example.com", "catalog"],
    ["home.catalog.example.com", "catalog"],
    ["moor.invalid", "name-server"],
    ["ns1.moor.invalid", "name-server"],
  ] as const)("%s: %s", async (name, why) => {
    expect(await reservedName(name, { ...own, catalog: "catalog.example.com" })).toBe(why);
  });

  it.each([
    ...["example.co.uk", "alpha.test", "home.lan", "corp.internal", "home.arpa", "10.in-addr.arpa"],
    ...["168.192.in-addr.arpa", "d.f.ip6.arpa", "www.ck", "city.kawasaki.jp", "me.github.io", "www.example.net"],
    ...["ns.example.net", "_acme-challenge.alpha.test", "0/25.2.0.192.in-addr.arpa", "fritz.box", "unlisted.invalid"],
    ...["www.service.test", "2.0.192.in-addr.arpa", "example.com", "ns4.moor.invalid"],
  ])("%s is not such a name", async (name) => {
    expect(await reservedName(name, { ...own, catalog: "catalog.example.com" })).toBeUndefined();
  });

  it("the list of suffixes is loaded on first use", () => {
    const script = `
      const { reservedName } = await import(${JSON.stringify(new URL("zone-names.ts", import.meta.url).href)});
      const { createRequire, registerHooks } = await import("node:module");
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      await reservedName("ns.test", { nameservers: ["ns.test"] });
      const before = loaded.filter((url) => url.includes("tldts")).length;
      await reservedName("alpha.test");
      console.log(before, loaded.filter((url) => url.includes("tldts")).length > 0);`;
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(out.trim()).toBe("0 true");
  });
});
