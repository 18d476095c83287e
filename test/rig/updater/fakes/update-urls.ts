import { parseAddress, recordTypeOf } from "../../../../src/core/addresses/address.ts";
import type { Asked, Reply } from "../services.ts";
import { printLine, readLine } from "../set-lines.ts";
import type { TargetPeer } from "../target-faults.ts";

/**
 * Services that take an address in one request, as the source says that is named in
 * `src/updater/targets/http-call/services.ts`. None was tried with an account. A refusal that no source shows word for
 * word is the simplest one that fits.
 */
export type UpdateUrl = {
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

/** Stores each address that was passed. */
async function putBoth(zone: Zone, host: string | null, addresses: readonly (string | null)[]) {
  const results = [];
  for (const each of addresses) if (each) results.push(await zone.put(host ?? "", each));
  if (results.length === 0 || results.includes("missing")) return "missing";
  return results.includes("updated") ? "updated" : "unchanged";
}

export const updateUrls: Readonly<Record<string, UpdateUrl>> = {
  duckdns: {
    settings: "token: { file: secret }",
    explains: false,
    error: (status) => plain("KO", status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/update") return noPage;
      const addresses = [query.get("ip") ?? "", query.get("ipv6") ?? ""];
      if (query.get("token") !== secret || addresses.every((each) => each === "")) return plain("KO");
      const result = await putBoth(zone, query.get("domains"), addresses);
      if (result === "missing") return plain("KO");
      const word = result === "updated" ? "UPDATED" : "NOCHANGE";
      return plain(query.get("verbose") === "true" ? ["OK", ...addresses, word].join("\n") : "OK");
    },
  },
  dynv6: {
    settings: "token: { file: secret }",
    echoes: false,
    error: (status, message) => plain(message, status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/api/update") return noPage;
      if (query.get("token") !== secret) return plain("invalid authentication token", 401);
      const result = await putBoth(zone, query.get("zone"), [query.get("ipv4"), query.get("ipv6")]);
      if (result === "missing") return plain("zone not found", 404);
      return plain(result === "updated" ? "addresses updated" : "addresses unchanged");
    },
  },
  ddnss: {
    settings: "user: me, password: { file: secret }",
    echoes: false,
    error: (status) => ({ status, body: "<html><body>badysys</body></html>" }),
    async answer({ pathname, query }, zone, secret) {
      const page = (text: string): Reply => ({
        body: `<body>\n<p><font size="2"></font></p>\n<p><font size="2">${text}</font></p>\n</body>`,
      });
      if (pathname !== "/upd.php") return noPage;
      if (query.get("user") !== "me" || query.get("pwd") !== secret) return page("badauth");
      const result = await putBoth(zone, query.get("host"), [query.get("ip"), query.get("ip6")]);
      return page(result === "missing" ? "notfqdn" : "Updated 1 hostname.");
    },
  },
  freedns: {
    settings: "user: me, password: { file: secret }",
    explains: false,
    error: (status, message) => plain(`ERROR: ${message}`, status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/u/") return noPage;
      const [host, ip] = [query.get("h") ?? "", query.get("ip") ?? ""];
      const result = basic === `me:${secret}` ? await zone.put(host, ip) : "missing";
      if (result === "missing") return plain("Couldn't find any matching DNS records via basic auth method!");
      return plain(
        result === "updated"
          ? `Updated ${host} from 192.0.2.1 to ${ip}`
          : `No IP change detected for ${host} with IP ${ip}, skipping update`,
      );
    },
  },
  cloudns: {
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false, named: false },
    error: (status, message) => plain(`Invalid request. ${message}`, status),
    async answer({ pathname, query, headers }, zone, secret) {
      if (pathname !== "/api/dynamicURL/") return noPage;
      if (query.get("q") !== secret) return plain("The record's key is wrong!");
      const ownAddress = "192.0.2.250";
      const forwarded = query.get("proxy") === "1" ? headers["x-forwarded-for"] : undefined;
      await zone.put("home.example.org", String(forwarded ?? ownAddress));
      return plain("OK");
    },
  },
  freemyip: {
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
    settings: "token: { file: secret }",
    explains: false,
    error: (status, message) => ({ status, body: { status, message } }),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/update/") return noPage;
      const sent = [
        ["A", query.get("a")],
        ["AAAA", query.get("aaaa")],
      ].filter(([, value]) => value);
      if (query.get("k") !== secret) return { status: 401, body: { status: 401, message: "invalid host or key" } };
      for (const [, value] of sent)
        if ((await zone.put(query.get("h") ?? "", value ?? "")) === "missing")
          return { status: 401, body: { status: 401, message: "invalid host or key" } };
      return { body: { status: 200, message: "record updated", value: Object.fromEntries(sent) } };
    },
  },
  domeneshop: {
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
    settings: "password: { file: secret }",
    echoes: false,
    error: (status, message) => plain(`[RESPONSE]\ncode = 500\ndescription = ${message}\nEOF`, status),
    async answer({ pathname, query }, zone, secret) {
      const says = (code: number, text: string) => plain(`[RESPONSE]\ncode = ${code}\ndescription = ${text}\nEOF\n`);
      if (pathname !== "/update.php") return noPage;
      if (query.get("password") !== secret) return says(530, "invalid password");
      const result = await zone.put(query.get("hostname") ?? "", query.get("ip") ?? "");
      return result === "missing" ? says(531, "Authorization failed") : says(200, "Command completed successfully");
    },
  },
  dondominio: {
    settings: "user: me, token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => ({ status, body: { success: false, messages: [message] } }),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/json/") return noPage;
      const isRight = query.get("user") === "me" && query.get("apikey") === secret;
      const result = isRight ? await zone.put(query.get("host") ?? "", query.get("ip") ?? "") : "missing";
      return { body: { success: result !== "missing", version: "1", messages: [] } };
    },
  },
  easydns: {
    settings: "user: me, password: { file: secret }",
    echoes: false,
    error: (status) => plain("ILLEGAL INPUT", status),
    async answer({ pathname, query, basic }, zone, secret) {
      const page = (word: string, text: string): Reply => ({
        body: `<HTML><BODY><FONT FACE="sans-serif" SIZE="-1">${word}<br />\n<hr noshade size="1">\n${text}<br />\n</FONT></BODY></HTML>`,
      });
      if (pathname !== "/dyn/generic.php") return noPage;
      if (basic !== `me:${secret}`) return page("NO_AUTH", "");
      const [host, ip] = [query.get("hostname") ?? "", query.get("myip") ?? ""];
      const result = await zone.put(host, ip);
      if (result === "missing") return page("NOSERVICE", "");
      return page("OK", result === "unchanged" ? `no update required for ${host} to ${ip}` : `${host} updated`);
    },
  },
  zoneedit: {
    settings: "user: me, password: { file: secret }",
    error: (status, message) => plain(`<ERROR CODE="703" TEXT="${message}" ZONE="example.org">`, status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/auth/dynamic.html") return noPage;
      if (basic !== `me:${secret}`) return plain('<ERROR CODE="708" TEXT="Failed Login: me" ZONE="%Zone%">');
      const [host, ip] = [query.get("host") ?? "", query.get("dnsto") ?? ""];
      const result = await zone.put(host, ip);
      if (result === "missing")
        return plain('<ERROR CODE="701" TEXT="Zone is not set up in this account." ZONE="example.org">');
      return result === "unchanged"
        ? plain(`<ERROR CODE="700" TEXT="no update required for ${host} to ${ip}" ZONE="example.org">`)
        : plain(`<SUCCESS CODE="200" TEXT="${host} updated to ${ip}" ZONE="example.org">`);
    },
  },
  dnsexit: {
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => ({ status, body: { code: 3, message } }),
    async answer({ method, pathname, body }, zone, secret) {
      if (pathname !== "/dns/" || method !== "POST") return noPage;
      const sent = JSON.parse(body) as {
        apikey: string;
        domain: string;
        update: { type: string; name: string; content: string; ttl: number }[];
      };
      if (sent.apikey !== secret) return { body: { code: 2, message: "API Key Authentication Error" } };
      for (const { name, content } of sent.update) {
        const isWhole = name === sent.domain || name.endsWith(`.${sent.domain}`);
        const host = isWhole ? name : `${name}.${sent.domain}`;
        if ((await zone.put(host, content)) === "missing") return { body: { code: 3, message: "Missing definitions" } };
      }
      return { body: { code: 0, details: ["UPDATE Record"], message: "Success" } };
    },
  },
  changeip: {
    settings: "user: me, password: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => plain(`${status} ${message}`, status),
    async answer({ pathname, query, basic }, zone, secret) {
      if (pathname !== "/nic/update") return noPage;
      if (basic !== `me:${secret}`) return plain("401 Access Denied", 401);
      const result = await zone.put(query.get("hostname") ?? "", query.get("myip") ?? "");
      return result === "missing" ? plain("422 Hostname supplied is incorrect", 422) : plain("200 Successful Update");
    },
  },
  http: {
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
    settings: "password: { file: secret }",
    error: (status, message) => plain(`;URL Interface<br>\r\nErrCount=1\r\nErr1=${message}\r\nDone=true`, status),
    async answer({ pathname, query }, zone, secret) {
      const says = (lines: readonly string[]) =>
        plain([";URL Interface<br>", ";Machine is Reseller5<br>", ...lines, "Done=true"].join("\r\n"));
      const no = (because: string, number: number) =>
        says(["ErrCount=1", `Err1=${because}`, "ResponseCount=1", `ResponseNumber1=${number}`]);
      if (pathname !== "/interface.asp" || query.get("Command") !== "SetDNSHost") return noPage;
      if (query.get("Zone") !== "example.org") return no("Domain name not found", 304153);
      if (query.get("DomainPassword") !== secret) return no("Passwords do not match", 304156);
      const name = query.get("HostName") ?? "";
      const result = await zone.put(name === "@" ? "example.org" : `${name}.example.org`, query.get("Address") ?? "");
      if (result === "missing") return no("Domain name not found", 304153);
      return says([`IP=${query.get("Address")}`, "Command=SETDNSHOST", "ErrCount=0", "ResponseCount=0"]);
    },
  },
  myaddr: {
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
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => plain(`error|402|${message}`, status),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/") return noPage;
      if (query.get("token") !== secret) return plain("error|401|authentication failed");
      const result = await putBoth(zone, query.get("fqdn"), [query.get("ipv4"), query.get("ipv6")]);
      if (result === "missing") return plain("error|412|invalid fqdn");
      return plain(result === "updated" ? "success|100|update succeeded" : "success|101|no update needed");
    },
  },
  "1984hosting": {
    settings: "token: { file: secret }",
    ...{ echoes: false, explains: false },
    error: (status, message) => ({ status, body: { ok: false, msg: message, lookup: {} } }),
    async answer({ pathname, query }, zone, secret) {
      if (pathname !== "/1.0/freedns/") return noPage;
      if (query.get("apikey") !== secret) return { body: { ok: false, msg: "Invalid API key", lookup: {} } };
      const result = await zone.put(query.get("domain") ?? "", query.get("ip") ?? "");
      if (result === "missing") return { body: { ok: false, msg: "No such zone or record", lookup: {} } };
      return { body: { ok: true, msg: result === "updated" ? "updated" : "IP unaltered", lookup: {} } };
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
