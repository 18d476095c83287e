import { parseAddress, recordTypeOf } from "../../../../src/core/addresses/address.ts";
import { openMoorPeer } from "../moor-peer.ts";
import type { Asked, Reply } from "../services.ts";
import { printLine, readLine } from "../set-lines.ts";
import type { TargetPeer } from "../target-faults.ts";

/**
 * Services that take an address in one request. `source` is where the service documents it. Only the pages of DuckDNS, dynv6 and
 * domaindiscount24 were at hand when this was written; the others are from memory and from what other clients send, by the
 * author of the adapters, and have to be compared with those pages.
 */
export type UpdateUrl = {
  readonly source: string;
  /** The settings of the target besides `url` and `dns`. Every secret is in the file `secret`. */
  readonly settings: string;
  readonly answer: (sent: Sent, zone: Zone, secret: string) => Reply | Promise<Reply>;
  /** An error in the service's own format. */
  readonly error: (status: number, message: string) => Reply;
  /** The answer does not contain the address. */
  readonly echoes?: false;
  /** A refusal does not say what is wrong. */
  readonly explains?: false;
  /** The credential decides which record is written. */
  readonly named?: false;
};

type Sent = Asked & {
  readonly pathname: string;
  readonly query: URLSearchParams;
  /** `user:password` of Basic authentication. */
  readonly basic: string;
};

type Zone = { readonly put: (host: string, address: string) => Promise<"updated" | "unchanged" | "missing"> };

const plain = (body: string, status = 200): Reply => ({ status, body, headers: { "content-type": "text/plain" } });
const noPage: Reply = { status: 404, body: "<html>not here</html>" };

export const updateUrls: Readonly<Record<string, UpdateUrl>> = {
  duckdns: {
    source: "https://www.duckdns.org/spec.jsp",
    settings: "token: { file: secret }",
    explains: false,
    error: (status) => plain("KO", status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/update") return noPage;
      const addresses = [query.get("ip") ?? "", query.get("ipv6") ?? ""];
      if (query.get("token") !== secret || addresses.every((each) => each === "")) return plain("KO");
      const results = [];
      for (const each of addresses.filter((text) => text !== ""))
        results.push(await zone.put(query.get("domains") ?? "", each));
      if (results.includes("missing")) return plain("KO");
      const word = results.includes("updated") ? "UPDATED" : "NOCHANGE";
      return plain(query.get("verbose") === "true" ? ["OK", ...addresses, word].join("\n") : "OK");
    },
  },
  dynv6: {
    source: "https://dynv6.com/docs/apis (Update API)",
    settings: "token: { file: secret }",
    echoes: false,
    error: (status, message) => plain(message, status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/api/update") return noPage;
      if (query.get("token") !== secret) return plain("invalid authentication token", 401);
      const results = [];
      for (const each of [query.get("ipv4"), query.get("ipv6")])
        if (each) results.push(await zone.put(query.get("zone") ?? "", each));
      if (results.length === 0 || results.includes("missing")) return plain("zone not found", 404);
      return plain(results.includes("updated") ? "addresses updated" : "addresses unchanged");
    },
  },
  ddnss: {
    source: "https://ddnss.de/info.php (DynDNS update by URL)",
    settings: "user: me, password: { file: secret }",
    echoes: false,
    error: (status) => ({ status, body: "<html><body>badsys</body></html>" }),
    async answer({ pathname, query }, zone, secret) {
      const page = (text: string): Reply => ({ body: `<html><body><p>DDNSS</p>\n<b>${text}</b></body></html>` });
      if (pathname !== "/upd.php") return noPage;
      if (query.get("user") !== "me" || query.get("pwd") !== secret) return page("badauth");
      const result = await zone.put(query.get("host") ?? "", query.get("ip") ?? query.get("ip6") ?? "");
      return page(result === "missing" ? "notfqdn" : "Updated 1 hostname.");
    },
  },
  freedns: {
    source: "https://freedns.afraid.org/dynamic/v2/",
    settings: "user: me, password: { file: secret }",
    error: (status, message) => plain(`ERROR: ${message}`, status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/nic/update") return noPage;
      if (basic !== `me:${secret}`) return plain("ERROR: Could not authenticate.", 401);
      const [host, ip] = [query.get("hostname") ?? "", query.get("myip") ?? ""];
      const result = await zone.put(host, ip);
      if (result === "missing") return plain("ERROR: Unable to locate this record", 404);
      return plain(
        result === "updated"
          ? `Updated ${host} from 192.0.2.1 to ${ip}`
          : `No IP change detected for ${host} with IP ${ip}, skipping update`,
      );
    },
  },
  cloudns: {
    source: "https://www.cloudns.net/wiki/article/36/ (Dynamic DNS)",
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false, named: false },
    error: (status, message) => plain(`Invalid request. ${message}`, status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/api/dynamicURL/") return noPage;
      if (query.get("q") !== secret) return plain("The record's key is wrong!");
      await zone.put("home.example.org", query.get("ip") ?? "");
      return plain("OK");
    },
  },
  freemyip: {
    source: "https://freemyip.com/help",
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status) => plain("ERROR", status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/update") return noPage;
      if (query.get("token") !== secret) return plain("ERROR");
      return plain((await zone.put(query.get("domain") ?? "", query.get("myip") ?? "")) === "missing" ? "ERROR" : "OK");
    },
  },
  njalla: {
    source: "https://njal.la/docs/ddns/",
    settings: "token: { file: secret }",
    explains: false,
    error: (status, message) => ({ status, body: { status, message } }),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/update/") return noPage;
      const sent = [
        ["A", query.get("a")],
        ["AAAA", query.get("aaaa")],
      ].filter(([, value]) => value);
      if (query.get("k") !== secret) return { status: 401, body: { status: 401, message: "permission denied" } };
      for (const [, value] of sent)
        if ((await zone.put(query.get("h") ?? "", value ?? "")) === "missing")
          return { status: 401, body: { status: 401, message: "permission denied" } };
      return { body: { status: 200, message: "record updated", value: Object.fromEntries(sent) } };
    },
  },
  domeneshop: {
    source: "https://api.domeneshop.no/docs/#tag/ddns",
    settings: "user: me, password: { file: secret }",
    echoes: false,
    error: (status, message) => ({ status, body: { code: "error", help: message } }),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/v0/dyndns/update") return noPage;
      if (basic !== `me:${secret}`) return { status: 401, body: { code: "unauthorized", help: "Wrong token" } };
      const result = await zone.put(query.get("hostname") ?? "", query.get("myip") ?? "");
      if (result === "missing") return { status: 404, body: { code: "domain:not-found", help: "No such domain" } };
      return { status: 204 };
    },
  },
  domaindiscount24: {
    source: "https://support.domaindiscount24.com/hc/en-gb/articles/4409759444625-Dynamic-DNS",
    settings: "password: { file: secret }",
    echoes: false,
    error: (status, message) => plain(`[RESPONSE]\ncode = 500\ndescription = ${message}\nEOF`, status),
    async answer({ pathname, query }, zone, secret) {
      const says = (code: number, text: string) => plain(`[RESPONSE]\ncode = ${code}\ndescription = ${text}\nEOF\n`);
      if (pathname !== "/update.php") return noPage;
      if (query.get("password") !== secret) return says(530, "Authentication failed");
      const result = await zone.put(query.get("hostname") ?? "", query.get("ip") ?? "");
      return result === "missing"
        ? says(545, "Entity reference not found")
        : says(200, "Command completed successfully");
    },
  },
  dondominio: {
    source: "https://dev.dondominio.com/dondns/docs/api/",
    settings: "user: me, token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => ({ status, body: { success: false, messages: [message] } }),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/json/") return noPage;
      const isRight = query.get("user") === "me" && query.get("password") === secret;
      const result = isRight ? await zone.put(query.get("host") ?? "", query.get("ip") ?? "") : "missing";
      return { body: { success: result !== "missing", version: "1", messages: [] } };
    },
  },
  easydns: {
    source: "https://kb.easydns.com/knowledge/dynamic-dns/",
    settings: "user: me, password: { file: secret }",
    echoes: false,
    error: (status) => plain("ILLEGAL INPUT", status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/dyn/generic.php") return noPage;
      if (basic !== `me:${secret}`) return plain("NO_AUTH");
      const result = await zone.put(query.get("hostname") ?? "", query.get("myip") ?? "");
      return plain(result === "missing" ? "NO_SERVICE" : "NOERROR");
    },
  },
  zoneedit: {
    source: "https://support.zoneedit.com/en/knowledgebase/article/dynamic-dns (update by URL)",
    settings: "user: me, password: { file: secret }",
    error: (status, message) => plain(`<ERROR CODE="707" TEXT="${message}" ZONE="example.org">`, status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/auth/dynamic.html") return noPage;
      if (basic !== `me:${secret}`) return plain('<ERROR CODE="708" TEXT="Failed Login: me" ZONE="%Zone%">');
      const [host, ip] = [query.get("host") ?? "", query.get("dnsto") ?? ""];
      const result = await zone.put(host, ip);
      if (result === "missing")
        return plain('<ERROR CODE="701" TEXT="Zone is not set up in this account." ZONE="example.org">');
      return plain(`<SUCCESS CODE="200" TEXT="${host} updated to ${ip}" ZONE="example.org">`);
    },
  },
  dnsexit: {
    source: "https://dnsexit.com/dns/dns-api/",
    settings: "token: { file: secret }",
    echoes: false,
    error: (status, message) => ({ status, body: { code: 8, message } }),
    async answer({ method, pathname, body }, zone, secret) {
      if (pathname !== "/dns/" || method !== "POST") return noPage;
      const sent = JSON.parse(body) as {
        apikey: string;
        domain: string;
        update: { type: string; name: string; content: string; ttl: number };
      };
      if (sent.apikey !== secret) return { body: { code: 2, message: "API Key Authentication Error" } };
      const { name, content } = sent.update;
      const host = name === "" || name === "@" ? sent.domain : `${name}.${sent.domain}`;
      if ((await zone.put(host, content)) === "missing")
        return { body: { code: 4, message: "Failed to find the domain or the record" } };
      return { body: { code: 0, details: [`UPDATE Record ${name}`], message: "Success" } };
    },
  },
  changeip: {
    source: "https://www.changeip.com/accounts/knowledgebase.php (dynamic DNS update protocol)",
    settings: "user: me, password: { file: secret }",
    echoes: false,
    error: (status, message) => plain(`${status} ${message}`, status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/nic/update") return noPage;
      if (basic !== `me:${secret}`) return plain("401 Access Denied", 401);
      const result = await zone.put(query.get("hostname") ?? "", query.get("myip") ?? "");
      return result === "missing" ? plain("404 Hostname not found", 404) : plain("200 Successful Update");
    },
  },
  http: {
    source: "made up: JSON in, JSON out, both addresses in one call",
    settings: `url: "URL/v1/hosts/{name}", method: PUT, headers: { X-Key: "{key}" }, body: '{"a": "{ipv4}", "aaaa": "{ipv6}"}', secrets: { key: { file: secret } }, done: { json: { "host.{family}": "{address}" } }, refused: { json: { error: "*" } }, families: together, readBack: true`,
    error: (status, message) => ({ status, body: { error: message } }),
    async answer({ method, pathname, headers, body }, zone, secret) {
      const [, host] = /^\/v1\/hosts\/(.+)$/.exec(pathname) ?? [];
      if (host === undefined || method !== "PUT") return noPage;
      if (headers["x-key"] !== secret) return { status: 401, body: { error: "wrong key" } };
      const { a, aaaa } = JSON.parse(body) as { a: string; aaaa: string };
      for (const each of [a, aaaa].filter((text) => text !== ""))
        if ((await zone.put(host, each)) === "missing") return { status: 404, body: { error: `no host ${host}` } };
      return { body: { host: { ipv4: a, ipv6: aaaa } } };
    },
  },
  enom: {
    source: "https://api.enom.com/docs/setdnshost",
    settings: "password: { file: secret }",
    error: (status, message) => plain(`;URL Interface\r\nErrCount=1\r\nErr1=${message}\r\nDone=true`, status),
    async answer({ pathname, query }, zone, secret) {
      const says = (lines: readonly string[]) => plain([";URL Interface", ...lines, "Done=true"].join("\r\n"));
      if (pathname !== "/interface.asp" || query.get("command") !== "SetDNSHost") return noPage;
      if (query.get("zone") !== "example.org") return says(["ErrCount=1", "Err1=Domain name not found"]);
      if (query.get("domainpassword") !== secret) return says(["ErrCount=1", "Err1=Passwords do not match"]);
      const name = query.get("hostname") ?? "";
      const result = await zone.put(name === "@" ? "example.org" : `${name}.example.org`, query.get("address") ?? "");
      if (result === "missing") return says(["ErrCount=1", "Err1=Host not found"]);
      return says([`IP=${query.get("address")}`, "ErrCount=0"]);
    },
  },
  myaddr: {
    source: "https://myaddr.tools/",
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false, named: false },
    error: (status, message) => plain(message, status),
    async answer({ method, pathname, body }, zone, secret) {
      const sent = new URLSearchParams(body);
      if (pathname !== "/update" || method !== "POST") return noPage;
      if (sent.get("key") !== secret) return plain("invalid key", 404);
      await zone.put("home.example.org", sent.get("ip") ?? "");
      return plain("OK");
    },
  },
  regfish: {
    source: "https://www.regfish.de/domains/dyndns/dokumentation",
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => plain(`error|400|${message}`, status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/") return noPage;
      if (query.get("token") !== secret) return plain("error|401|authentication failed");
      const result = await zone.put(query.get("fqdn") ?? "", query.get("ipv4") ?? query.get("ipv6") ?? "");
      return plain(result === "missing" ? "error|402|update failed" : "success|100|update succeeded");
    },
  },
  "1984hosting": {
    source: "https://1984.hosting/blog/dynamic-dns/",
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => ({ status, body: { ok: false, msg: message, lookup: {} } }),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/1.0/freedns/") return noPage;
      if (query.get("apikey") !== secret) return { body: { ok: false, msg: "Invalid API key", lookup: {} } };
      const result = await zone.put(query.get("domain") ?? "", query.get("ip") ?? "");
      if (result === "missing") return { body: { ok: false, msg: "No such zone or record", lookup: {} } };
      return { body: { ok: true, msg: result === "updated" ? "updated" : "unaltered", lookup: {} } };
    },
  },
};

/** One of them, in front of moor's nameserver, which shows the record. */
export function openUpdateUrl({ settings, answer }: UpdateUrl, secret: string, peer: TargetPeer): TargetPeer {
  const put: Zone["put"] = async (host, text) => {
    const address = parseAddress(text);
    const name = host === "example.org" ? "@" : host.replace(/\.example\.org$/, "");
    const lines = (await peer.held()).map(readLine);
    const type = address && recordTypeOf(address.family);
    const isIt = (line: { name: string; type: string }) => line.name === name && line.type === type;
    if (!address || name === host || !lines.some(isIt)) return "missing";
    if (lines.filter(isIt).every(({ value }) => value === address.text)) return "unchanged";
    const changed = lines.map((line) => printLine(isIt(line) ? { ...line, value: address.text } : line));
    await peer.fill([...new Set(changed)]);
    return "updated";
  };
  const reply = (asked: Asked) => {
    const { pathname, searchParams: query } = new URL(asked.path, "http://x");
    const [, sent = ""] = (asked.headers.authorization ?? "").split(" ");
    return answer({ ...asked, pathname, query, basic: Buffer.from(sent, "base64").toString() }, { put }, secret);
  };
  return { ...peer, settings: `${settings}, ${peer.settings}`, reply, close: () => undefined };
}

/** The nameserver behind all of them. */
export const openNameserver = (): Promise<TargetPeer> => openMoorPeer((port) => `dns: ["127.0.0.1:${port}"]`);
