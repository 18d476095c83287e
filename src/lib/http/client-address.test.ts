import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNetwork } from "../../core/addresses/network.ts";
import { type ProxyHeader, trustProxies } from "./client-address.ts";

const networks = ["127.0.0.1", "10.0.0.0/8", "2001:db8:99::/48"].flatMap((text) => parseNetwork(text) ?? []);
const trust = (header: ProxyHeader) => trustProxies({ networks, header });
const xff = trust("x-forwarded-for");
const rfc7239 = trust("forwarded");

describe("the address of a caller behind proxies", () => {
  it.each([
    ["no proxy: the header is a claim", "198.51.100.7", "203.0.113.1", "198.51.100.7"],
    ["a peer that no longer has an address", "", "203.0.113.1", ""],
    ["a proxy on this machine", "127.0.0.1", "203.0.113.1", "203.0.113.1"],
    ["a proxy seen through an IPv6 socket", "::ffff:127.0.0.1", "203.0.113.1", "203.0.113.1"],
    ["an IPv6 proxy and an IPv6 caller", "2001:db8:99::1", "2001:DB8:1::0005", "2001:db8:1::5"],
    ["spoofed: everything further left is the caller's claim", "127.0.0.1", "127.0.0.1, 203.0.113.1", "203.0.113.1"],
    ["spoofed as one of our proxies", "127.0.0.1", "10.0.0.1, 203.0.113.1, 10.0.0.2", "203.0.113.1"],
    ["two proxies of ours", "10.0.0.1", "203.0.113.1, 10.0.0.2", "203.0.113.1"],
    ["all of them ours: the leftmost", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["with a port", "127.0.0.1", "203.0.113.1:51234", "203.0.113.1"],
    ["IPv6 in brackets, with a port", "127.0.0.1", "[2001:db8:1::5]:443", "2001:db8:1::5"],
    ["IPv6 in brackets", "127.0.0.1", "[2001:db8:1::5]", "2001:db8:1::5"],
    ["IPv4 inside IPv6", "127.0.0.1", "::ffff:203.0.113.1", "203.0.113.1"],
    ["blanks", "127.0.0.1", "  203.0.113.1  ", "203.0.113.1"],
    ["no address: the proxy itself", "127.0.0.1", "unknown", "127.0.0.1"],
    ["empty", "127.0.0.1", "", "127.0.0.1"],
    ["an empty last hop: the proxy itself", "127.0.0.1", "203.0.113.1,", "127.0.0.1"],
    ["garbage to the left of a proxy of ours: that proxy", "127.0.0.1", "203.0.113.1, <script>, 10.0.0.2", "10.0.0.2"],
    ["an octal number is not an address", "127.0.0.1", "010.0.0.1", "127.0.0.1"],
    ["a name is not an address", "127.0.0.1", "localhost", "127.0.0.1"],
    ["an address with a zone index does not count", "127.0.0.1", "fe80::1%eth0", "127.0.0.1"],
    ["the end of a very long header counts", "127.0.0.1", `${"1.1.1.1, ".repeat(5_000)}203.0.113.1`, "203.0.113.1"],
  ])("%s", (_, peer, header, expected) => {
    expect(xff.clientOf(peer, { "x-forwarded-for": header })).toBe(expected);
  });

  it.each([
    ["plain", "for=203.0.113.1", "203.0.113.1"],
    ["with other parameters", "proto=https;For=203.0.113.1;by=10.0.0.1", "203.0.113.1"],
    ["quoted IPv6 with a port", 'for="[2001:db8:1::5]:4711"', "2001:db8:1::5"],
    ["several hops", "for=1.1.1.1, for=203.0.113.1;proto=http, for=10.0.0.2", "203.0.113.1"],
    ["hidden by its proxy", "for=203.0.113.1, for=_hidden", "127.0.0.1"],
    ["unknown", "for=unknown", "127.0.0.1"],
    ["no address given", "proto=https", "127.0.0.1"],
  ])("Forwarded (RFC 7239): %s", (_, header, expected) => {
    expect(rfc7239.clientOf("127.0.0.1", { forwarded: header })).toBe(expected);
  });

  it("is read from one header only: a proxy that writes one passes on the other as it came", () => {
    const both = { "x-forwarded-for": "203.0.113.1", forwarded: "for=198.51.100.1" };
    expect(xff.clientOf("127.0.0.1", both)).toBe("203.0.113.1");
    expect(rfc7239.clientOf("127.0.0.1", both)).toBe("198.51.100.1");
    expect(xff.clientOf("127.0.0.1", { forwarded: "for=198.51.100.1" })).toBe("127.0.0.1");
  });

  it.each([
    ["https", "127.0.0.1", "https"],
    ["HTTP", "127.0.0.1", "http"],
    ["http, https", "127.0.0.1", "https"],
    ["javascript", "127.0.0.1", undefined],
    ["https", "198.51.100.7", undefined],
  ])("comes with the scheme in X-Forwarded-Proto: %s from %s", (header, peer, expected) => {
    expect(xff.schemeOf(peer, { "x-forwarded-proto": header })).toBe(expected);
  });

  it.each([
    ["for=203.0.113.1;proto=https", "127.0.0.1", "https"],
    ["for=203.0.113.1;proto=http, for=10.0.0.2;PROTO=https", "127.0.0.1", "https"],
    ["for=203.0.113.1;proto=https, for=10.0.0.2", "127.0.0.1", undefined],
    ["https", "127.0.0.1", undefined],
    ["for=203.0.113.1;proto=https", "198.51.100.7", undefined],
  ])("comes with the scheme in Forwarded: %s from %s", (forwarded, peer, expected) => {
    expect(rfc7239.schemeOf(peer, { forwarded, "x-forwarded-proto": "http" })).toBe(expected);
  });

  it("is the peer's if that is not a trusted proxy, whatever the headers say", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const headers = { "x-forwarded-for": one, forwarded: other };
        expect(xff.clientOf("198.51.100.7", headers)).toBe("198.51.100.7");
        expect(rfc7239.clientOf("198.51.100.7", headers)).toBe("198.51.100.7");
      }),
    );
  });

  it("is the one that its proxy appends, whatever the caller claims", () => {
    fc.assert(
      fc.property(fc.string(), (claimed) => {
        expect(xff.clientOf("127.0.0.1", { "x-forwarded-for": `${claimed}, 203.0.113.1` })).toBe("203.0.113.1");
      }),
    );
  });
});
