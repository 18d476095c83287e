import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administer, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace, repository } from "../rig/namespace.ts";
import { patience } from "../rig/patience.ts";
import { secretIn } from "../rig/services.ts";
import type { StartedProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

/** packaging/proxy/moor.nginx.conf, unmodified and at its real path; of its two nodes, only the second runs. */

const [proxy, home, stranger] = ["203.0.113.1", "203.0.113.5", "198.51.100.9"];
let inside: Namespace;
let folder: string;
let moor: StartedProcess;
let token: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-nginx-"));
  inside = await openNamespace({ emptied: ["/etc/nginx", "/var/lib/nginx", "/var/log/nginx", "/run"] });
  await inside.ip(...[proxy, home, stranger].map((address) => `addr add ${address}/32 dev lo`));
  await shell("mkdir -p /etc/nginx/conf.d /etc/nginx/moor");
  await shell(`cp ${join(repository, "packaging", "proxy", "moor.nginx.conf")} /etc/nginx/conf.d/moor.conf`);
  await shell(
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=dns.example.org " +
      "-addext subjectAltName=DNS:dns.example.org -keyout /etc/nginx/moor/key.pem -out /etc/nginx/moor/fullchain.pem " +
      `&& cp /etc/nginx/moor/fullchain.pem ${folder}/proxy.pem`,
  );
  await shell(`cat > /etc/nginx/nginx.conf <<'END'
user root;
daemon off;
master_process off;
error_log stderr;
events {}
http { access_log off; include /etc/nginx/conf.d/*.conf; }
END`);
  const data = join(folder, "data");
  const tokenFile = join(folder, "token");
  await administer(["token", "add", "--new", "--data", data, "--to", tokenFile, "--from", `${home}/32`]);
  token = secretIn(tokenFile);
  const options = ["--plain-http", "--trust-proxy", "127.0.0.1", "--access-log", "--log-format", "json"];
  moor = startMoor(inside, ["records", "--data", data, "--listen", "127.0.0.1:8062", ...options]);
  await moor.says(/ listens on http:.*\n/);
  inside.start(["nginx", "-c", "/etc/nginx/nginx.conf"]);
  const ready = async () => (await curl(home, "/health/ready")).status === 200;
  await until(ready, { what: () => "nginx to find the node that runs" });
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function shell(script: string): Promise<void> {
  const { code, err } = await inside.run(["sh", "-ec", script]);
  if (code !== 0) throw new Error(`${script}: ${err}`);
}

const command = (from: string, path: string, words: readonly string[]): readonly [string, ...string[]] => [
  ...(["curl", "-sS", "--cacert", join(folder, "proxy.pem"), "--resolve", `dns.example.org:443:${proxy}`] as const),
  ...["--interface", from, ...words, `https://dns.example.org${path}`],
];

async function curl(from: string, path: string, ...words: readonly string[]) {
  const { out } = await inside.run(command(from, path, ["-i", "--max-time", String(patience / 1_000), ...words]));
  const [head = "", body = ""] = out.split("\r\n\r\n", 2);
  const header = (name: string) => new RegExp(`^${name}: (.*?)\r?$`, "im").exec(head)?.[1];
  return { status: Number(/^HTTP\S+ (\d+)/.exec(head)?.[1]), header, body };
}

const bearer = () => ["-H", `Authorization: Bearer ${token}`] as const;
const logged = (request: string | undefined) =>
  moor
    .err()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find((line) => line.request === request);

describe("moor behind nginx", () => {
  it("uses the client address that nginx saw, whatever the client claims", async () => {
    expect((await curl(home, "/v1/zones", ...bearer())).status).toBe(200);
    expect((await curl(stranger, "/v1/zones", ...bearer())).status).toBe(401);
    for (const claim of [`X-Forwarded-For: ${home}`, `Forwarded: for=${home}`, `X-Real-IP: ${home}`]) {
      expect((await curl(stranger, "/v1/zones", ...bearer(), "-H", claim)).status).toBe(401);
    }
    const claimed = `X-Forwarded-For: ${stranger}, 127.0.0.1`;
    expect((await curl(home, "/v1/zones", ...bearer(), "-H", claimed)).status).toBe(200);
  });

  it("uses the request id of nginx in the answer and the log, and https in the links of lists", async () => {
    const zones = await curl(home, "/v1/zones", ...bearer(), "-H", "X-Request-Id: mine");
    const id = zones.header("x-correlation-id");
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(zones.header("link")).toMatch(/^<https:\/\/dns\.example\.org\/v1\/zones\?/);
    await expect.poll(() => logged(id)).toMatchObject({ from: home, status: 200, route: "/v1/zones" });
  });

  it("points a name at the caller's address, as routers request it", async () => {
    const zone = { name: "example.org", mode: "primary" };
    const json = (body: unknown) => ["-X", "POST", "-d", JSON.stringify(body)] as const;
    expect((await curl(home, "/v1/zones", ...bearer(), ...json(zone))).status).toBe(201);
    const set = { name: "home", type: "A", records: [{ value: "192.0.2.1" }] };
    expect((await curl(home, "/v1/zones/example.org/rrsets", ...bearer(), ...json(set))).status).toBe(201);
    const update = await curl(home, "/nic/update?hostname=home.example.org", "-u", `router:${token}`);
    expect(update.body).toBe(`good ${home}\n`);
  });

  it("passes on a zone file of the maximum size", async () => {
    const file = join(folder, "large.zone");
    // Long comments: millions of lines would take most of their time in the parser.
    const comment = `;${"x".repeat(1_000)}\n`;
    writeFileSync(file, "$ORIGIN example.org.\n$TTL 300\nwww A 192.0.2.1\n".padEnd(16 * 1024 * 1024, comment));
    const body = ["-H", `Auth-API-Token: ${token}`, "-H", "Expect:", "--data-binary", `@${file}`] as const;
    expect((await curl(home, "/api/v1/zones/file/validate", ...body)).body).toContain("parsed_records");
  });

  it("passes changes on immediately, and ends the stream when the reader leaves", async () => {
    const stream = inside.start(command(home, "/v1/events", ["-N", ...bearer()]));
    await stream.says(/^id: \d+/m);
    await curl(home, "/nic/update?hostname=home.example.org&myip=192.0.2.77", "-u", `router:${token}`);
    await stream.says(/192\.0\.2\.77/);
    expect(stream.out()).toMatch(/^event: change\ndata: \{.*"192\.0\.2\.77"/m);
    await stream.stop("SIGKILL");
  });

  it("lets people sign in: the cookie is for TLS, and the page's own origin is known", async () => {
    const made = await administer(["sign-in", "--data", join(folder, "data")]);
    const link = /sign-in#(\S+)/.exec(made.out)?.[1];
    const body = ["-d", JSON.stringify({ link }), "-H", "Content-Type: application/json"] as const;
    const foreign = await curl(home, "/console/sign-in-link", ...body, "-H", "Origin: https://evil.example");
    expect(foreign.status).toBe(403);
    const entered = await curl(home, "/console/sign-in-link", ...body, "-H", "Origin: https://dns.example.org");
    expect(entered.status).toBe(204);
    expect(entered.header("set-cookie")).toMatch(/^__Host-moor-records=.*; Secure; HttpOnly; SameSite=Strict/);
  });

  it("does not serve metrics to customers", async () => {
    expect((await curl(home, "/metrics")).status).toBe(404);
  });
});
