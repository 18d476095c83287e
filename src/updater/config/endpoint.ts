import { X509Certificate } from "node:crypto";
import { parseAddress } from "../../core/addresses/address.ts";
import { isLoopbackName } from "../../lib/http/listen.ts";
import type { HttpTrust } from "../../lib/http-client/endpoint.ts";
import { type KeyFault, needed, shared, usually } from "../../lib/settings/mapping.ts";
import {
  duration,
  flag,
  path,
  refined,
  type Setting,
  type SettingPlace,
  text,
  typeInWords,
} from "../../lib/settings/setting.ts";
import { readTextFile } from "./secret.ts";

/** Which certificate of a service is trusted, and how long to wait for it. */
export const trustFields = shared("Certificates and time limits", {
  ca: refined(path("A PEM file: only the certificates in it are trusted.", "secrets/ca.pem"), trustAuthorities),
  fingerprint: refined(text("The SHA-256 fingerprint of the only certificate to trust.", "AB:CD:…"), trustFingerprint),
  insecure: usually(flag("Trust any certificate. For testing only."), false),
  serverName: text("The name in the certificate, if it differs from the host in the URL.", "OPNsense.internal"),
  timeout: duration("How long one request may take.", "30s", { default: "15s" }),
});

/**
 * The settings shared by everything reached over HTTP. `mayHaveQuery`: for URLs that are issued as a whole, such as web
 * hooks.
 */
export const endpointFields = (description: string, example: string, mayHaveQuery = false) => ({
  url: needed(webAddress(description, example, { mayHaveQuery })),
  ...trustFields,
});

/** Like `endpointFields`, for a service that everyone reaches at one URL. */
export const hostedFields = (usual: string) => ({
  url: usually(webAddress("Another URL, for example of a proxy.", usual), usual),
  ...trustFields,
});

const trusts = ["ca", "fingerprint", "insecure"] as const;

/** At most one of `trusts` may be set. Without any, the well-known authorities are trusted. */
export function oneTrust(presentKeys: readonly string[], what: string): readonly KeyFault[] {
  const both = trusts.filter((key) => presentKeys.includes(key));
  if (both.length < 2) return [];
  const todo = "keep one: each is a different way to choose the trusted certificate";
  return [{ code: "two-trusts", message: `${what} has ${both.join(" and ")}`, todo, at: both[1] ?? "", skip: both }];
}

type Trusts = { readonly ca?: HttpTrust; readonly fingerprint?: HttpTrust; readonly insecure: boolean };

/** An `Endpoint` with the other settings of the mapping. */
export function withTrust<V extends Trusts>(
  value: V,
  { what, reading }: SettingPlace,
): Omit<V, keyof Trusts> & { readonly trust: HttpTrust } {
  const { ca, fingerprint, insecure, ...rest } = value;
  if (insecure)
    reading.warn(`${what}: insecure: true lets anyone on the network path read the secret and change the answer`);
  return { ...rest, trust: ca ?? fingerprint ?? { kind: insecure ? "insecure" : "system" } };
}

/** For a device on the local network that speaks plain HTTP, and to which no secret is sent. */
export const plainAddress = (description: string, example: string): Setting<URL> =>
  refined(webAddress(description, example, { mayHaveQuery: true, whyNotPlain: "" }), (url, { what, fault }) =>
    url.protocol === "http:"
      ? url
      : fault({ code: "bad-url", message: `${what} is not an http:// URL`, todo: "write http://host:port" }),
  );

/** `whyNotPlain`: what is wrong with http://; empty if nothing is. */
export const webAddress = (
  description: string,
  example: string,
  { mayHaveQuery = false, whyNotPlain = "would send its secret unencrypted" } = {},
): Setting<URL> =>
  refined(text(description, example, { pattern: "^https?://", [typeInWords]: "URL" }), (written, { what, fault }) => {
    const bad = (message: string, todo: string) => fault({ code: "bad-url", message: `${what} ${message}`, todo });
    const url = URL.canParse(written) ? new URL(written) : undefined;
    // The URL may contain a password, so no message quotes it.
    if (!url || !/^https?:$/.test(url.protocol)) return bad("is not an HTTP URL", "write https://host");
    if (url.username || url.password)
      return bad("contains a user name", "remove the user name and password before the @");
    if ((url.search && !mayHaveQuery) || url.hash)
      return bad("has a query or a fragment", "write https://host or https://host:port");
    if (whyNotPlain !== "" && url.protocol === "http:" && !isLoopbackName(url.hostname)) {
      return bad(whyNotPlain, "use https:// (http:// is allowed for loopback only)");
    }
    return url;
  });

function trustAuthorities(file: string, place: SettingPlace): HttpTrust | undefined {
  const pem = readTextFile(file, place);
  if (pem === undefined) return undefined;
  const bad = (message: string, todo: string) =>
    place.fault({ code: "bad-ca", message: `${place.what}${message}`, todo });
  const certificates = pem
    .split(/^(?=-----BEGIN CERTIFICATE-----)/m)
    .filter((part) => part.startsWith("-----BEGIN CERTIFICATE"));
  const damaged = certificates.findIndex((part) => !isCertificate(part));
  // Node would silently skip a damaged certificate, and those that it signed would not be trusted.
  if (damaged >= 0) return bad(`: certificate ${damaged + 1} in ${file} is damaged`, "copy the whole file again");
  if (certificates.length > 0) return { kind: "ca", pem };
  return bad(" contains no certificate", "use a PEM file: its first line is -----BEGIN CERTIFICATE-----");
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function trustFingerprint(written: string, { what, fault }: SettingPlace): HttpTrust | undefined {
  const hex = written
    .replace(/^sha-?256[:=]?/i, "")
    .replaceAll(/[:\s]/g, "")
    .toUpperCase();
  if (/^[0-9A-F]{64}$/.test(hex)) return { kind: "fingerprint", sha256: (hex.match(/../g) ?? []).join(":") };
  return fault({
    code: "bad-fingerprint",
    message: `${what} is not a SHA-256 fingerprint: 32 pairs of hexadecimal digits`,
    todo: "run: openssl x509 -noout -fingerprint -sha256 -in CERTIFICATE",
  });
}

/** `192.0.2.53`, `192.0.2.54:5353` or `[2001:db8::53]:53`. */
export const dnsServer = refined(
  text("An address, with a port if it is not 53.", "192.0.2.53"),
  (server, { fault }) => {
    const { host, port } = partsOfServer(server);
    if (parseAddress(host) && Number(port) >= 1 && Number(port) <= 65_535) return server;
    const todo = "write 192.0.2.53 or [2001:db8::53]:53";
    return fault({ code: "bad-server", message: `${server} is not an IP address`, todo });
  },
);

/** The address and the port. */
export function partsOfServer(server: string): { readonly host: string; readonly port: string } {
  const [, host = server, port = "53"] =
    /^\[(.*)\](?::(\d{1,5}))?$/.exec(server) ?? /^(\d[\d.]*):(\d{1,5})$/.exec(server) ?? [];
  return { host, port };
}
