import type { Asked, Reply } from "../services.ts";

/**
 * Services of the dyndns2 protocol that differ from it, written from their own documentation and from clients that work
 * with them, before anybody had read the adapter. None was tried with an account.
 *
 * - Dynu: its *IP Update Protocol* and its page on Wget. A family that is not passed is set to the address of the
 *   caller; `no` keeps it. User name and password are parameters of the request, or Basic authentication.
 * - deSEC: its *IP Update API*. Each request decides both families: what is not passed is set to the address of the
 *   caller, or removed if the caller has none of that family; `preserve` keeps it.
 * - Hurricane Electric: dns.he.net/docs.html and OpenWrt, which had to give up Basic authentication in November 2025
 *   (openwrt/packages#27593). The host's own key is the parameter `password`; the family follows from the address.
 * - YDNS: its own updater, which takes only `ok` for success. `host` and `ip`, Basic authentication.
 * - selfHOST: its *API Update Schnittstelle*. 204 is *not changed*, 409 *no zones found*, 503 *too soon*.
 */
export type StoredAddresses = { A: string | undefined; AAAA: string | undefined };

export type Dyndns2Service = {
  /** Where the update URL leads. */
  readonly path: string;
  readonly answer: (request: Request, host: StoredAddresses) => Reply;
};

type Request = {
  readonly query: URLSearchParams;
  /** `user:password` of Basic authentication, if it was used. */
  readonly basic: string | undefined;
  readonly right: { readonly host: string; readonly user: string; readonly password: string };
};

/** What the services see of whoever calls, and store if the request does not say an address. */
export const callersAddress = { A: "198.51.100.250", AAAA: "2001:db8:ca11::250" } as const;

const plain = (body: string, status = 200): Reply => ({ status, body, headers: { "content-type": "text/plain" } });
const typeOf = (address: string) => (address.includes(":") ? "AAAA" : "A");

function put(host: StoredAddresses, addresses: readonly string[]): "good" | "nochg" {
  const changed = addresses.filter((address) => host[typeOf(address)] !== address);
  for (const address of changed) host[typeOf(address)] = address;
  return changed.length > 0 ? "good" : "nochg";
}

export const dyndns2Services: Readonly<Record<"desec" | "dynu" | "he" | "ydns" | "selfhost", Dyndns2Service>> = {
  dynu: {
    path: "/nic/update",
    answer({ query, basic, right }, host) {
      const sent = basic ?? `${query.get("username")}:${query.get("password")}`;
      if (sent !== `${right.user}:${right.password}`) return plain("badauth");
      if (query.get("hostname") !== right.host) return plain("nohost");
      const wanted = [query.get("myip") ?? callersAddress.A, query.get("myipv6") ?? callersAddress.AAAA];
      const addresses = wanted.filter((each) => each !== "no");
      return plain(`${put(host, addresses)} ${addresses.join(" ")}`);
    },
  },
  desec: {
    path: "/",
    answer({ query, basic, right }, host) {
      if (basic !== `${right.user}:${right.password}`) return plain("badauth", 401);
      if (query.get("hostname") !== right.host) return plain("nohost", 404);
      const sent = [query.get("myip") ?? "", query.get("myipv6") ?? query.get("myip") ?? ""] as const;
      const [ipv4 = callersAddress.A, ipv6] = [sent[0].includes(":") ? undefined : sent[0] || undefined, sent[1]];
      if (ipv4 !== "preserve") host.A = ipv4;
      if (ipv6 !== "preserve") host.AAAA = ipv6.includes(":") ? ipv6 : undefined;
      return plain("good");
    },
  },
  he: {
    path: "/nic/update",
    answer({ query, right }, host) {
      if (query.get("password") !== right.password) return plain("badauth");
      if (query.get("hostname") !== right.host) return plain("nohost");
      const address = query.get("myip") ?? callersAddress.A;
      return plain(`${put(host, [address])} ${address}`);
    },
  },
  ydns: {
    path: "/api/v1/update/",
    answer({ query, basic, right }, host) {
      if (basic !== `${right.user}:${right.password}`) return plain("badauth", 401);
      if (query.get("host") !== right.host) return plain("nohost", 404);
      put(host, [query.get("ip") ?? callersAddress.A]);
      return plain("ok");
    },
  },
  selfhost: {
    path: "/nic/update",
    answer({ query, basic, right }, host) {
      if (basic !== `${right.user}:${right.password}`) return plain("badauth", 401);
      if (query.get("hostname") !== right.host) return plain("", 409);
      const address = query.get("myip") ?? callersAddress.A;
      return put(host, [address]) === "nochg" ? { status: 204 } : plain(`good ${address}`);
    },
  },
};

/** The service as a server answers it: only its own path, with GET. */
export function answerDyndns2(service: Dyndns2Service, right: Request["right"], host: StoredAddresses) {
  return ({ method, path, headers }: Asked): Reply => {
    const url = new URL(path, "http://x");
    if (method !== "GET" || url.pathname !== service.path) return { status: 404, body: "<html>not found</html>" };
    const [, encoded] = /^Basic (.+)$/.exec(headers.authorization ?? "") ?? [];
    const basic = encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString();
    return service.answer({ query: url.searchParams, basic, right }, host);
  };
}
