import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createServer } from "node:tls";
import { expect, it } from "vitest";
import { makeCertificate } from "../../../test/rig/updater/certificates.ts";
import { fetchCertificate } from "./fetch-certificate.ts";

it("does not let a name in a certificate overwrite the fingerprint below it", async () => {
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

it.each([
  [
    "nothing listens",
    undefined,
    60_000,
    /^nothing is listening at 127\.0\.0\.1:\d+; check that the service is running/,
  ],
  [
    "no TLS is spoken",
    "HTTP/1.1 400 Bad Request\r\n\r\n",
    60_000,
    /^the TLS handshake with 127\.0\.0\.1:\d+ failed; check the port/,
  ],
  ["nobody answers", "", 200, /^127\.0\.0\.1:\d+ did not finish its answer within 0\.2 s; check that it is running/],
])("says what to do if %s", async (_, said, limit, message) => {
  const server = createTcpServer((socket) => socket.on("error", () => undefined).write(said ?? "")).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (said === undefined) server.close();
  try {
    const url = new URL(`https://127.0.0.1:${port}`);
    await expect(fetchCertificate(url, new AbortController().signal, limit)).rejects.toThrow(message);
  } finally {
    server.close();
  }
});
