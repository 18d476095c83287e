import { wanWith } from "../rig/updater/services.ts";
import { firewall, type HostileRow, moved } from "./hostile-row.ts";

const slow = { source: "timeout: 2s" };

const tlsWords = {
  stranger: /not signed by an authority that this config trusts/,
  expired: /has expired or is not valid yet/,
  otherName: /not valid for/,
} as const;

/** What a firewall can do to its client: in transport, status and body. */
export const hostileFirewalls: readonly HostileRow[] = [
  {
    ...firewall("transport", "refuses the connection", moved, /nothing is listening at/),
    begin: (loop) => loop.firewall.pause(),
    end: (loop) => loop.firewall.resume(),
  },
  firewall("transport", "resets the connection", () => ({ fault: "reset" }), /closed the connection unexpectedly/),
  firewall("transport", "never ends its body", () => ({ ...moved(), fault: "hang" }), /within 2 s/, slow),
  firewall("transport", "cuts its body short", () => ({ ...moved(), fault: "truncate" }), /sent only part/),
  firewall(
    "transport",
    "says gzip, and it is not",
    () => ({ ...moved(), headers: { "content-encoding": "gzip" } }),
    /cannot be decompressed as gzip/,
  ),
  ...(["stranger", "expired", "otherName"] as const).map(
    (which): HostileRow => ({
      ...firewall("transport", `shows another certificate: ${which}`, moved, tlsWords[which]),
      overTls: true,
      begin(loop, certificates) {
        loop.says.firewall = moved;
        loop.firewall.showCertificate(certificates[which]);
      },
      end: (loop, { good }) => loop.firewall.showCertificate(good),
    }),
  ),
  firewall(
    "transport",
    "switches to another protocol",
    () => ({ raw: "HTTP/1.1 101 Yes\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n" }),
    /switched to another protocol/,
  ),
  firewall("status", "201", () => ({ ...moved(), status: 201 }), /answered 201/),
  firewall("status", "204", () => ({ status: 204 }), /answered 204/),
  firewall("status", "301", () => ({ ...moved(), status: 301, headers: { location: "/" } }), /a redirect/),
  firewall("status", "302 to its login", () => ({ status: 302, headers: { location: "/?url=x" } }), /a redirect/),
  firewall("status", "307", () => ({ ...moved(), status: 307, headers: { location: "/x" } }), /a redirect/),
  firewall("status", "400", () => ({ ...moved(), status: 400 }), /answered 400/),
  firewall("status", "401", () => ({ ...moved(), status: 401 }), /rejected the key/),
  firewall("status", "403", () => ({ ...moved(), status: 403 }), /may not read/),
  firewall("status", "404", () => ({ ...moved(), status: 404 }), /has no interface status call/),
  firewall("status", "429", () => ({ ...moved(), status: 429 }), /answered 429/),
  firewall("status", "500", () => ({ ...moved(), status: 500 }), /answered 500/),
  firewall("status", "503", () => ({ ...moved(), status: 503 }), /answered 503/),
  firewall("body", "empty", () => ({ body: "" }), /empty body/),
  firewall("body", "blanks", () => ({ body: " \n " }), /empty body/),
  firewall("body", "a web page", () => ({ body: "<!doctype html><p>Login" }), /web page/),
  firewall("body", "plain text", () => ({ body: "Service unavailable" }), /not JSON/),
  firewall("body", "null", () => ({ body: "null" }), /not a list of interfaces/),
  firewall("body", "a number", () => ({ body: "7" }), /not a list of interfaces/),
  firewall("body", "an array", () => ({ body: [{ ipv4: [] }] }), /not a list of interfaces/),
  // OPNsense's empty report. It is a valid report, so each record reports a missing interface.
  { ...firewall("body", "an empty array", () => ({ body: [] }), /no interface wan0/), warnings: 2 },
  { ...firewall("body", "an empty object", () => ({ body: {} }), /no interface wan0/), warnings: 2 },
  {
    ...firewall(
      "body",
      "another interface",
      () => ({ body: { wan1: wanWith(["9.9.9.10"], []) } }),
      /its interfaces are wan1/,
    ),
    warnings: 2,
  },
  firewall("body", "an interface that is text", () => ({ body: { wan0: "up" } }), /wan0 is not an object/),
  firewall("body", "ipv4 as an object", () => ({ body: { wan0: { ipv4: {}, ipv6: [] } } }), /ipv4 is not a list/),
  firewall("body", "ipv6 as text", () => ({ body: { wan0: { ipv4: [], ipv6: "x" } } }), /ipv6 is not a list/),
  firewall(
    "body",
    "a number for an address",
    () => ({ body: { wan0: { ipv4: [{ ipaddr: 1 }] } } }),
    /ipaddr is not a string/,
  ),
  firewall("body", "null for an address", () => ({ body: { wan0: { ipv4: [null] } } }), /ipv4\[0\] is not an object/),
  firewall(
    "body",
    "text for link-local",
    () => ({ body: { wan0: { ipv6: [{ ipaddr: "2a00::1", "link-local": "no" }] } } }),
    /link-local is neither/,
  ),
  firewall(
    "body",
    "a doubtful neighbour",
    () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::10"]), lo0: { ipv4: 7 } } }),
    /lo0\.ipv4/,
  ),
  firewall(
    "body",
    "carp without a status",
    () => ({ body: { wan0: { ...wanWith(["9.9.9.10"], []), carp: { 1: {} } } } }),
    /carp does not list a status/,
  ),
  firewall(
    "body",
    "an interface twice",
    () => ({ body: `{"wan0":${JSON.stringify(wanWith(["9.9.9.10"], []))},"wan0":{"ipv4":[{"ipaddr":"9.9.9.11"}]}}` }),
    /has "wan0" twice/,
  ),
  firewall(
    "body",
    "an address with two texts",
    () => ({ body: '{"wan0":{"ipv4":[{"ipaddr":"9.9.9.10","ipaddr":"9.9.9.11"}],"ipv6":[]}}' }),
    /has "ipaddr" twice/,
  ),
  firewall("body", "huge", () => ({ body: `{"wan0":"${"x".repeat(5 * 1024 * 1024)}"}` }), /more than 4 MiB/),
  firewall(
    "body",
    "cut off JSON",
    () => ({ body: '{"wan0":{"ipv4":[{"ipaddr":"9.9.9.10"' }),
    /not JSON, or was cut off/,
  ),
];
