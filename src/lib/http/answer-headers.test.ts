import { expect, it } from "vitest";
import { transportSecurity } from "./plain-request.ts";

it.each([
  ["dns.example.org", true],
  ["dns.example.org:8053", true],
  ["DNS.Example.ORG.", true],
  ["localhost", false],
  ["localhost:8053", false],
  ["app.localhost:8053", false],
  ["nas:8053", false],
  ["127.0.0.1:8053", false],
  ["192.0.2.1", false],
  ["[::1]:8053", false],
  ["[2001:db8::1]", false],
  ["", false],
  [undefined, false],
])("for the host %s, HSTS is sent: %s", (host, isSent) => {
  expect(transportSecurity(host)).toEqual(isSent ? { "strict-transport-security": "max-age=604800" } : {});
});
