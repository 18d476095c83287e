import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ensureCertificate } from "../process/certificates.ts";
import { ca } from "./ca.ts";

it("shows file, fingerprint and certificate, as openssl does", async () => {
  const folder = await mkdtemp(join(tmpdir(), "moor-ca-"));
  const { ca: pem, caFile } = await ensureCertificate(folder, [], new Date());
  let out = "";
  const io = {
    ...{ program: "moor", env: {}, cwd: "/", signal: new AbortController().signal, err: () => undefined },
    out: (text: string) => {
      out += text;
    },
  };
  expect(await ca({ data: folder }, io)).toBe(0);
  const { stdout } = await promisify(execFile)("openssl", ["x509", "-in", caFile, "-noout", "-fingerprint", "-sha256"]);
  expect(out).toContain(`file         ${caFile}\n`);
  expect(out).toContain(`SHA-256      ${stdout.trim().split("=")[1]}\n`);
  expect(out.endsWith(pem)).toBe(true);
  out = "";
  await ca({ data: folder, pem: true }, io);
  expect(out).toBe(pem);
});
