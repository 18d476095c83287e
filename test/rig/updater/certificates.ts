import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * An authority and a server certificate that it signed, made with openssl so that our code is not tested against
 * itself.
 */
export type TestCertificate = {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
  readonly fingerprint: string;
};

export function makeCertificate(names: string, days = 2, subject = "test server"): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), "moor-cert-"));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const newKey = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  try {
    const forCa = [
      "-x509",
      "-days",
      "2",
      "-subj",
      "/CN=test authority",
      "-addext",
      "basicConstraints=critical,CA:TRUE",
    ];
    openssl(...newKey, ...forCa, "-keyout", file("ca.key"), "-out", file("ca.pem"));
    openssl(...newKey, "-subj", `/CN=${subject}`, "-keyout", file("key.pem"), "-out", file("request.pem"));
    writeFileSync(file("extensions"), `subjectAltName=${names}\n`);
    openssl(
      ...[
        "x509",
        "-req",
        "-in",
        file("request.pem"),
        "-CA",
        file("ca.pem"),
        "-CAkey",
        file("ca.key"),
        "-CAcreateserial",
      ],
      ...["-extfile", file("extensions"), "-out", file("cert.pem"), "-days", String(days)],
    );
    const printed = openssl("x509", "-in", file("cert.pem"), "-noout", "-fingerprint", "-sha256");
    const text = (name: string) => readFileSync(file(name), "utf8");
    return {
      ca: text("ca.pem"),
      key: text("key.pem"),
      cert: text("cert.pem"),
      fingerprint: printed.trim().split("=")[1] ?? "",
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
