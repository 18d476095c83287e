import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { expect, it } from "vitest";
import { fetchCertificate } from "./fetch-certificate.ts";
import { makeCertificate } from "./rig/certificates.ts";

it("lets no name in a certificate write over the fingerprint that is shown below it", async () => {
  const { key, cert, fingerprint } = makeCertificate("IP:127.0.0.1", 2, "mine\u001b[2J");
  const server = createServer({ key, cert }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const shown = await fetchCertificate(new URL(`https://127.0.0.1:${port}`), new AbortController().signal);
    expect(shown).toMatchObject({ subject: "mine\\u{1b}[2J", fingerprint });
  } finally {
    server.close();
  }
});
