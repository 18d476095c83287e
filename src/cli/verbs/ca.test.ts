import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { ensureCertificate } from "../../lib/tls/certificates.ts";
import { ca } from "./ca.ts";

it("shows file, fingerprint and certificate, as openssl does", async () => {
  const folder = await mkdtemp(join(tmpdir(), "moor-ca-"));
  const { ca: pem, caFile } = await ensureCertificate(folder, [], new Date());
  const { io, printed } = openTerminal("/");
  expect(await ca({ data: folder }, io)).toBe(0);
  const { stdout } = await promisify(execFile)("openssl", ["x509", "-in", caFile, "-noout", "-fingerprint", "-sha256"]);
  expect(printed.out).toContain(`file         ${caFile}\n`);
  expect(printed.out).toContain(`SHA-256      ${stdout.trim().split("=")[1]}\n`);
  expect(printed.out.endsWith(pem)).toBe(true);
  printed.out = "";
  await ca({ data: folder, pem: true }, io);
  expect(printed.out).toBe(pem);
});
