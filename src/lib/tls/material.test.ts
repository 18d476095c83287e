import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createSecureContext } from "node:tls";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../process/log.ts";
import { listenOn } from "../http/listen.ts";
import { closeServer, createTlsServer } from "../http/page-server.ts";
import { ensureCertificate } from "./certificates.ts";
import type { Pair } from "./issue-certificate.ts";
import { openTlsMaterial, type TlsOptions } from "./material.ts";

let folder: string;
let logged: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-tls-"));
  logged = [];
});

const days = (count: number) => new Date(Date.UTC(2026, 10, 15) + count * 86_400_000);

async function followed(options: Partial<TlsOptions> = {}) {
  const shown: Pair[] = [];
  const material = await openTlsMaterial({
    folder,
    pairName: "firewall",
    names: () => [],
    log: createLog({ format: "json", write: (line) => logged.push(line) }),
    every: 20,
    ...options,
  });
  material.follow((pair) => shown.push(pair));
  onTestFinished(material.close);
  return { material, shown };
}

describe("the private authority's certificate", () => {
  it("is renewed while the service runs, before it expires", async () => {
    let [now, checks] = [days(0), 0];
    const clock = () => {
      checks += 1;
      return now;
    };
    const { material, shown } = await followed({ now: clock });
    now = days(360);
    const before = checks;
    await expect.poll(() => checks).toBeGreaterThan(before + 2);
    expect(shown).toEqual([]);
    now = days(367);
    await expect.poll(() => shown.length).toBe(1);
    expect(new X509Certificate(shown[0]?.cert ?? "").validToDate.getTime()).toBeGreaterThan(days(700).getTime());
    const ca = new X509Certificate(await readFile(material.caFile ?? ""));
    expect(new X509Certificate(shown[0]?.cert ?? "").verify(ca.publicKey)).toBe(true);
  });

  it("is reported while it is not valid", async () => {
    let now = days(0);
    const { material } = await followed({ now: () => now, every: 1_000_000 });
    expect(material.trouble()).toBeUndefined();
    now = days(5_000);
    expect(material.trouble()).toMatch(/^the certificate expired on 20\d\d-/);
    now = days(-5_000);
    expect(material.trouble()).toMatch(/^the certificate is not valid before 20\d\d-/);
  });

  it.each<[string, (pem: string) => string]>([
    ["with Windows line ends", (pem) => pem.replaceAll("\n", "\r\n")],
    ["without a final line end", (pem) => pem.trimEnd()],
  ])("may be saved %s", async (_, saved) => {
    const { cert } = await ensureCertificate(folder, [], days(0), "firewall");
    await writeFile(join(folder, "firewall.pem"), saved(cert));
    const { material } = await followed({ now: () => days(1) });
    expect(await readFile(join(folder, "firewall.pem"), "utf8")).toBe(saved(cert));
    expect(material.trouble()).toBeUndefined();
    expect(() => createSecureContext(material.pair)).not.toThrow();
  });

  it("is reported while the authority is not valid, with what to do", async () => {
    let now = days(0);
    const { material, shown } = await followed({ now: () => now });
    now = days(21 * 365);
    await expect.poll(() => shown.length).toBe(1);
    expect(material.trouble()).toMatch(
      /^the private authority expired on 2046-.*; if the clock is right, remove ca\.key/,
    );
    await expect.poll(() => logged.join("")).toContain("the private authority expired");
  });

  it("is replaced soon after the clock was corrected", async () => {
    await ensureCertificate(folder, [], days(0), "firewall");
    let now = days(3_650);
    const { material, shown } = await followed({ now: () => now });
    now = days(1);
    await expect.poll(() => shown.length).toBe(1);
    expect(material.trouble()).toBeUndefined();
    expect(logged.map((line) => JSON.parse(line).msg)).toEqual(["a new certificate is in use"]);
  });

  it("follows the addresses of the machine", async () => {
    let names = ["192.0.2.1"];
    const { shown } = await followed({ names: () => names });
    names = ["192.0.2.2"];
    await expect.poll(() => shown.length).toBe(1);
    expect(new X509Certificate(shown[0]?.cert ?? "").checkIP("192.0.2.2")).toBe("192.0.2.2");
  });

  it("stays while the machine's addresses are unknown, and follows them afterwards", async () => {
    let names = (): readonly string[] => ["192.0.2.1"];
    const { shown } = await followed({ names: () => names() });
    let asked = 0;
    names = () => {
      asked += 1;
      throw new Error("too many open files");
    };
    await expect.poll(() => asked).toBeGreaterThan(3);
    expect(shown).toEqual([]);
    expect(logged).toEqual([expect.stringContaining("too many open files")]);
    names = () => ["192.0.2.2"];
    await expect.poll(() => shown.length).toBe(1);
  });

  it("is presented to new connections after a renewal", async () => {
    let names = ["before.test"];
    const { material } = await followed({ names: () => names });
    const server = createTlsServer(material.pair, { handle: (_, response) => void response.end("x") });
    onTestFinished(() => closeServer(server));
    material.follow((pair) => server.setSecureContext(pair));
    const { port } = await listenOn(server, { host: "127.0.0.1", port: 0 });
    const ca = await readFile(material.caFile ?? "");
    const shownTo = (servername: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: "127.0.0.1", port, ca, servername }, () => {
          resolve(socket.getPeerX509Certificate()?.subjectAltName ?? "");
          socket.end();
        });
        socket.once("error", reject);
      });
    expect(await shownTo("before.test")).toContain("before.test");
    names = ["after.test"];
    await expect.poll(() => shownTo("after.test").catch(() => "")).toContain("after.test");
  });
});

describe("the operator's files", () => {
  const files = () => ({ cert: join(folder, "own.pem"), key: join(folder, "own.key") });
  const put = async (names: readonly string[]) => {
    const pair = await ensureCertificate(await mkdtemp(join(tmpdir(), "moor-tls-own-")), names, new Date());
    await replace(files().cert, pair.cert);
    return { ...pair, finish: () => replace(files().key, pair.key) };
  };
  /** Atomic: half a file would be another fault. */
  const replace = async (path: string, text: string) => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };

  it("are used as they are, without a private authority, whatever the machine's names are", async () => {
    const own = await put(["own.test"]);
    await own.finish();
    const names = () => {
      throw new Error("no need to ask");
    };
    const { material } = await followed({ files: files(), names });
    expect(material).toMatchObject({ pair: { cert: own.cert, key: own.key } });
    expect(material).not.toHaveProperty("caFile");
    await expect(readFile(join(folder, "ca.key"))).rejects.toThrow(/ENOENT/);
  });

  it("are reported once after they have expired, but not if an authority in their chain has", async () => {
    const old = await ensureCertificate(await mkdtemp(join(tmpdir(), "moor-tls-old-")), [], days(-8_000));
    const { cert, finish } = await put(["own.test"]);
    await replace(files().cert, cert + old.ca);
    await finish();
    let checks = 0;
    const clock = () => {
      checks += 1;
      return days(30);
    };
    const { material } = await followed({ files: files(), now: clock });
    expect(material.trouble()).toBeUndefined();
    await replace(files().key, old.key);
    await replace(files().cert, old.cert);
    await expect.poll(material.trouble).toMatch(/^the certificate expired on 20/);
    const before = checks;
    await expect.poll(() => checks).toBeGreaterThan(before + 2);
    expect(logged.filter((line) => line.includes("expired on"))).toHaveLength(1);
  });

  it("may contain a comment with the word ENCRYPTED", async () => {
    const own = await put(["own.test"]);
    const key = `# not ENCRYPTED\n${own.key}`;
    await writeFile(files().key, key);
    expect((await followed({ files: files() })).material).toMatchObject({ pair: { key } });
  });

  it("are used again after both have changed, and not in between", async () => {
    await (await put(["own.test"])).finish();
    const { shown } = await followed({ files: files() });
    const next = await put(["next.test"]);
    await expect.poll(() => logged.join("")).toContain("is not the key of the certificate");
    expect(shown).toEqual([]);
    await next.finish();
    await expect.poll(() => shown).toEqual([{ cert: next.cert, key: next.key }]);
    expect(logged.filter((line) => line.includes("the old one stays"))).toHaveLength(1);
  });

  const broken: Record<string, () => Promise<unknown>> = {
    missing: async () => undefined,
    mismatched: async () => {
      await (await put(["a"])).finish();
      await put(["b"]);
    },
    "not PEM": async () => {
      await (await put(["a"])).finish();
      await writeFile(files().cert, "x");
    },
    "cut off": async () => {
      const { cert, finish } = await put(["a"]);
      await finish();
      await writeFile(files().cert, cert.slice(0, 200));
    },
    "followed by a chain that is cut off": async () => {
      const { cert, finish } = await put(["a"]);
      await finish();
      await writeFile(files().cert, cert + cert.slice(0, 200));
    },
    swapped: async () => {
      const { cert, key } = await put(["a"]);
      await writeFile(files().cert, key);
      await writeFile(files().key, cert);
    },
    "without a key": async () => {
      const { cert } = await put(["a"]);
      await writeFile(files().key, cert);
    },
    encrypted: async () => {
      const { key } = await put(["a"]);
      const lock = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" } as const;
      await writeFile(files().key, createPrivateKey(key).export(lock));
    },
  };
  it.each([
    ["missing", /^there is no file .*own\.pem; --cert and --key take PEM files/],
    ["mismatched", /is not the key/],
    ["not PEM", /own.pem is not a PEM file/],
    ["cut off", /own\.pem does not contain a readable certificate \(.+\); --cert takes/],
    ["followed by a chain that is cut off", /own\.pem does not contain a readable certificate \(.+\); --cert takes/],
    ["swapped", /own\.pem does not contain a readable certificate/],
    ["without a key", /own\.key does not contain a readable key \(.+\); --key takes/],
    ["encrypted", /own\.key is encrypted with a passphrase; give a key without one/],
  ])("prevent the start if they are %s", async (how, message) => {
    await broken[how]?.();
    await expect(followed({ files: files() })).rejects.toThrow(message);
  });
});
