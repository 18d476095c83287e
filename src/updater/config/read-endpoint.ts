import { X509Certificate } from "node:crypto";
import { isLoopbackName } from "../../process/http/loopback-name.ts";
import type { Endpoint, HttpTrust } from "../http/endpoint.ts";
import { readDuration } from "./read-duration.ts";
import { readTextFile, type Surroundings } from "./read-secret.ts";
import type { Fields, Spot, YamlReader } from "./yaml-reader.ts";

export const endpointKeys = ["url", "ca", "fingerprint", "insecure", "serverName", "timeout"] as const;
type EndpointKey = (typeof endpointKeys)[number];

/** Where a service is and why it is believed: the part that sources and targets have in common. */
export function readEndpoint(
  yaml: YamlReader,
  fields: Fields<EndpointKey>,
  what: string,
  surroundings: Surroundings,
  /** For addresses that people are given as a whole, such as those of web hooks. */
  mayHaveQuery = false,
): Endpoint | undefined {
  const url = readUrl(yaml, fields, what, mayHaveQuery);
  const trust = readTrust(yaml, fields, what, surroundings);
  const named = fields.get("serverName");
  const serverName = named && yaml.text(named, `serverName of ${what}`);
  const limit = fields.get("timeout");
  const timeout = limit && readDuration(yaml, limit, `timeout of ${what}`);
  return (
    url &&
    trust && {
      ...{ url, trust },
      ...(serverName === undefined ? {} : { serverName }),
      ...(timeout === undefined ? {} : { timeout }),
    }
  );
}

function readUrl(yaml: YamlReader, fields: Fields<EndpointKey>, what: string, mayHaveQuery: boolean): URL | undefined {
  const at = fields.get("url");
  if (!at) return yaml.fault(fields.self, missing(`${what} has no url`, "add `url: https://…`"));
  const text = yaml.text(at, `url of ${what}`);
  if (text === undefined) return undefined;
  const bad = (message: string, todo: string) => yaml.fault(at, { code: "bad-url", message, todo });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text may hold a password, so no message repeats it.
  if (!url || !/^https?:$/.test(url.protocol)) return bad(`url of ${what} is no web address`, "write https://host");
  if (url.username || url.password)
    return bad(`url of ${what} holds a user name`, "leave out what stands before the @");
  if ((url.search && !mayHaveQuery) || url.hash)
    return bad(`url of ${what} has a ? or # part`, "write https://host, and :port if needed");
  if (url.protocol === "http:" && !isLoopbackName(url.hostname)) {
    return bad(`url of ${what} would send its secret unencrypted`, "write https:// (http:// is for loopback only)");
  }
  return url;
}

function readTrust(
  yaml: YamlReader,
  fields: Fields<EndpointKey>,
  what: string,
  surroundings: Surroundings,
): HttpTrust | undefined {
  const given = (["ca", "fingerprint", "insecure"] as const).filter((key) => fields.get(key));
  const [first, second] = given;
  const at = second && fields.get(second);
  if (at) {
    return yaml.fault(at, {
      code: "two-trusts",
      message: `${what} has ${given.join(" and ")}`,
      todo: "keep one: each says by itself which certificate is believed",
    });
  }
  const spot = first && fields.get(first);
  if (!first || !spot) return { kind: "system" };
  return readers[first](yaml, spot, what, surroundings);
}

type TrustReader = (yaml: YamlReader, at: Spot, what: string, surroundings: Surroundings) => HttpTrust | undefined;

const readers: Readonly<Record<"ca" | "fingerprint" | "insecure", TrustReader>> = {
  ca(yaml, at, what, surroundings) {
    const pem = readTextFile(yaml, at, `ca of ${what}`, surroundings);
    if (pem === undefined) return undefined;
    const certificates = pem
      .split(/^(?=-----BEGIN CERTIFICATE-----)/m)
      .filter((text) => text.startsWith("-----BEGIN CERTIFICATE"));
    const damaged = certificates.findIndex((text) => !isCertificate(text));
    if (damaged >= 0) {
      // Else it would be passed over in silence, and what it should vouch for not be trusted.
      const message = `ca of ${what}: certificate ${damaged + 1} in ${yaml.text(at, "ca")} is damaged`;
      return yaml.fault(at, { code: "bad-ca", message, todo: "copy the file again, as a whole" });
    }
    if (certificates.length > 0) return { kind: "ca", pem };
    return yaml.fault(at, {
      code: "bad-ca",
      message: `ca of ${what} holds no certificate`,
      todo: "give a PEM file: its first line is -----BEGIN CERTIFICATE-----",
    });
  },
  fingerprint(yaml, at, what) {
    const text = yaml.text(at, `fingerprint of ${what}`);
    const hex = text
      ?.replace(/^sha-?256[:=]?/i, "")
      .replaceAll(/[:\s]/g, "")
      .toUpperCase();
    if (hex === undefined) return undefined;
    if (/^[0-9A-F]{64}$/.test(hex)) return { kind: "fingerprint", sha256: (hex.match(/../g) ?? []).join(":") };
    return yaml.fault(at, {
      code: "bad-fingerprint",
      message: `fingerprint of ${what} is not SHA-256: 32 pairs of hexadecimal digits`,
      todo: "type: openssl x509 -noout -fingerprint -sha256 -in CERTIFICATE",
    });
  },
  insecure(yaml, at, what, { warn }) {
    const insecure = yaml.flag(at, `insecure of ${what}`);
    if (insecure) warn(`${what}: insecure: true: whoever is on the way can read the secret and change the answer`);
    return insecure === undefined ? undefined : { kind: insecure ? "insecure" : "system" };
  },
};

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

export const missing = (message: string, todo: string) => ({ code: "missing", message, todo });
