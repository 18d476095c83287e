import { expect, test } from "vitest";
import { describeTransportFault } from "./transport-faults.ts";

const endpoint = { url: new URL("https://dns.test:8443/x"), trust: { kind: "system" } as const };
const limits = { timeoutMs: 15_000, maxBytes: 4 * 1024 * 1024 };

/** Codes that a real server cannot produce in a test, or not on every machine. */
test.each([
  ["CERT_REVOKED", "certificate revoked", /^the certificate of dns\.test cannot be used: certificate revoked$/],
  ["INVALID_PURPOSE", "unsuitable certificate purpose", /^the certificate of dns\.test cannot be used: unsuitable/],
  ["CERT_HAS_EXPIRED", "certificate has expired", /^the certificate of dns\.test has expired or is not valid yet$/],
  [
    "HPE_INVALID_VERSION",
    "Parse Error: Invalid HTTP version",
    /^dns\.test:8443 .*invalid HTTP headers: Invalid HTTP ver/,
  ],
  ["EHOSTUNREACH", "connect EHOSTUNREACH", /^there is no route to dns\.test$/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "wrong version", /^the TLS handshake with dns\.test:8443 failed$/],
  ["EWHATEVER", "no idea", /^the request to dns\.test:8443 failed: no idea$/],
])("%s", (code, message, because) => {
  const fault = describeTransportFault(Object.assign(new Error(message), { code }), endpoint, limits);
  expect(fault.because).toMatch(because);
  expect(fault.todo).not.toBe("");
});
