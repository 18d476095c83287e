import { chmodSync, copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Device, type Setup, setupFor } from "../../console/records/dynamic/device-setups.ts";
import { builtInName, type HostedName, hostName } from "../rig/hosted-name.ts";
import { isLongRun } from "../rig/long-run.ts";
import { administer, runMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { secretIn } from "../rig/services.ts";
import { makeCertificate } from "../rig/updater/certificates.ts";

/** Released clients as packaged by Debian, unmodified: they believe that they talk to the original. */
describe("installed clients", () => {
  let inside: Namespace;
  let folder: string;
  let name: HostedName;
  let zone: string;

  beforeAll(async () => {
    inside = await openNamespace();
    folder = mkdtempSync(join(tmpdir(), "moor-clients-"));
    name = await hostName(inside, folder);
  });
  afterAll(() => inside.close());

  beforeEach(async () => {
    if (zone !== undefined) await name.ask("DELETE", `/zones/${zone}`);
    zone = (await name.ask("POST", "/zones", { name: "example.org", ttl: 60 })).zone?.id ?? "";
    const record = { zone_id: zone, type: "A", name: "home", value: "192.0.2.1", ttl: 60 };
    await name.ask("POST", "/records", record);
  });

  const records = async () => {
    const { records = [] } = await name.ask("GET", `/records?zone_id=${zone}`);
    return records.filter(({ type }) => type !== "SOA").map(({ name, type, value }) => `${name} ${type} ${value}`);
  };
  const config = (file: string, ...lines: readonly string[]): string => {
    const path = join(folder, file);
    writeFileSync(path, `${lines.join("\n")}\n`);
    chmodSync(path, 0o600);
    return path;
  };

  it("count the nameservers of a new zone, which has an SOA and three", async () => {
    const header = ["-H", `Authorization: Bearer ${name.token}`, "-H", "Content-Type: application/json"];
    const body = JSON.stringify({ name: "new.example", mode: "primary" });
    const url = `https://${builtInName}/v1/zones`;
    const { out } = await name.run(["curl", "-sS", "--cacert", name.caFile, ...header, "-d", body, url]);
    const { zone } = JSON.parse(out) as { zone: { authoritative_nameservers: { assigned: readonly string[] } } };
    expect(zone).toMatchObject({ record_count: 4, ttl: 3600, registrar: "other", status: "ok" });
    expect(zone.authoritative_nameservers.assigned).toHaveLength(3);
  });

  describe("lexicon", () => {
    /** Several command lines in one process: starting Python and its modules takes half a second. */
    const inOneProcess = `import json, sys
from lexicon.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["lexicon", *words]
    main()`;
    const lexicon = (...lines: readonly (readonly string[])[]) => {
      const words = lines.map((line) => ["hetzner", "--auth-token", name.token, ...line]);
      const env = { REQUESTS_CA_BUNDLE: name.caFile };
      return name.run(["/usr/bin/python3", "-c", inOneProcess, JSON.stringify(words)], env);
    };
    const challenge = (content: string) => ["--name", "_acme-challenge.example.org", "--content", content];

    // It lists the records before it creates, updates or deletes one.
    it("creates a record, also twice, and deletes another, and updates one", async () => {
      const done = await lexicon(
        ["create", "example.org", "TXT", ...challenge("stays-123_abc"), "--ttl", "60"],
        ["create", "example.org", "TXT", ...challenge("stays-123_abc")],
        ["create", "example.org", "TXT", ...challenge("goes-123_abc")],
        ["delete", "example.org", "TXT", ...challenge("goes-123_abc")],
        ["update", "example.org", "A", "--name", "home", "--content", "192.0.2.77"],
      );
      expect(done).toMatchObject({ code: 0 });
      const txt = "_acme-challenge TXT stays-123_abc";
      expect((await records()).toSorted()).toEqual([txt, "home A 192.0.2.77"]);
    });

    it.each(isLongRun ? ["wrong"] : [])("lists records, and says when the token is %s", async () => {
      expect((await lexicon(["list", "example.org", "A"])).out).toMatch(/A +home\.example\.org +192\.0\.2\.1 +60/);
      expect(await lexicon(["list", "example.org", "A", "--auth-token", "x".repeat(32)])).toMatchObject({ code: 1 });
    });
  });

  describe("ddclient", () => {
    const ddclient = async (...lines: readonly string[]) => {
      const file = config("ddclient.conf", "ssl=yes", `ssl_ca_file=${name.caFile}`, ...lines);
      const cache = join(folder, `cache-${Math.random()}`);
      const { out, err } = await name.run([
        "ddclient",
        "-file",
        file,
        "-cache",
        cache,
        "-daemon=0",
        "-noquiet",
        "-verbose",
      ]);
      return out + err;
    };

    it("speaks v1: finds the zone and the record, and writes the address", async () => {
      const said = await ddclient(
        "usev4=ipv4, ipv4=203.0.113.5",
        `protocol=hetzner, zone=example.org, password=${name.token}`,
        "home.example.org",
      );
      expect(said).toContain("SUCCESS:  updating home.example.org: IPv4 address set to 203.0.113.5");
      expect(await records()).toEqual(["home A 203.0.113.5"]);
    });

    it("speaks dyndns2", async () => {
      const lines = [
        "usev4=ipv4, ipv4=203.0.113.6",
        `protocol=dyndns2, server=${builtInName}, login=any, password=${name.token}`,
        "home.example.org",
      ];
      expect(await ddclient(...lines)).toContain("updating home.example.org: good: IP address set to 203.0.113.6");
      expect(await records()).toEqual(["home A 203.0.113.6"]);
      expect(await ddclient(...lines)).toMatch(/nochg/);
    });
  });

  describe("the settings that the console shows for a new dynamic name", () => {
    const shown = (device: Device): Setup => {
      const wish = { origin: `https://${builtInName}`, zone: "example.org", owner: "attic" };
      return setupFor(device, { ...wish, secret: secretIn(join(folder, "attic-token")) });
    };
    beforeAll(() =>
      administer([
        ...["token", "add", "--data", join(folder, "data"), "--to", join(folder, "attic-token")],
        ...["--name", "attic", "--zone", "example.org", "--set", "attic A,AAAA"],
      ]),
    );

    it("work in ddclient, which checks the service that says its address with the same file", async () => {
      const { text, notes } = shown("ddclient");
      const path = (file: string) => join(folder, file);
      const web = makeCertificate("IP:127.0.0.1");
      for (const [file, content] of Object.entries({ ...web, "ip.txt": "203.0.113.8" })) config(file, content);
      const says = ["-accept", "127.0.0.1:8999", "-cert", path("cert"), "-key", path("key"), "-WWW"] as const;
      await inside.start(["openssl", "s_server", ...says], { cwd: folder }).says(/ACCEPT/);
      copyFileSync(name.caFile, path("trusted"));
      const [, command = ""] = /: (cat .*)$/m.exec(notes.join("\n")) ?? [];
      const replaced = [
        ["/etc/ssl/moor-ca.pem", path("trusted")],
        ["/etc/ssl/certs/ca-certificates.crt", path("ca")],
        ["webv4=ipify-ipv4", "webv4=https://127.0.0.1:8999/ip.txt"],
      ] as const;
      const forHere = (line: string) => replaced.reduce((done, [before, after]) => done.replace(before, after), line);
      await name.run(["sh", "-c", forHere(command)]);
      const here = forHere(text?.content ?? "");
      const said = await name.run([
        ...(["ddclient", "-file", config("shown.conf", here), "-cache", join(folder, "shown-cache")] as const),
        ...["-daemon=0", "-noquiet", "-verbose"],
      ]);
      expect(said.out + said.err).toContain("updating attic.example.org: good: IP address set to 203.0.113.8");
      expect(await records()).toContain("attic A 203.0.113.8");
    });

    it("work in the inadyn of a UniFi gateway, which cuts the server at the first slash", async () => {
      const fields = new Map(shown("unifi").fields.map(({ label, value }) => [label, value]));
      const [server = "", ...path] = fields.get("Server")?.split("/") ?? [];
      const file = config(
        "unifi.conf",
        `ca-trust-file = "${name.caFile}"`,
        "custom moor {",
        `  hostname = "${fields.get("Hostname")}"`,
        `  username = "${fields.get("Username")}"`,
        `  password = "${fields.get("Password")}"`,
        `  ddns-server = "${server}"`,
        `  ddns-path = "/${path.join("/")}"`,
        '  checkip-command = "/bin/echo 203.0.113.9"',
        "}",
      );
      await name.run(["inadyn", "-n", "-1", "-f", file, `--cache-dir=${join(folder, "unifi")}`]);
      expect(await records()).toContain("attic A 203.0.113.9");
    });

    it("are a valid config of moor", async () => {
      const { text, fields } = shown("moor");
      config("moor.yaml", text?.content ?? "");
      config("dns-token", fields[0]?.value ?? "");
      copyFileSync(name.caFile, join(folder, "moor-ca.pem"));
      const checked = await runMoor(inside, ["update", "--check", "--config", join(folder, "moor.yaml")]);
      expect([checked.code, checked.err]).toEqual([0, ""]);
    });
  });

  it("inadyn speaks dyndns2", async () => {
    const file = config(
      "inadyn.conf",
      `ca-trust-file = "${name.caFile}"`,
      "custom moor {",
      "  username = any",
      `  password = ${name.token}`,
      "  hostname = home.example.org",
      `  ddns-server = ${builtInName}`,
      '  ddns-path = "/nic/update?hostname=%h&myip=%i"',
      '  checkip-command = "/bin/echo 203.0.113.7"',
      "}",
    );
    const { code, out, err } = await name.run([
      "inadyn",
      "-n",
      "-1",
      "-f",
      file,
      `--cache-dir=${join(folder, "inadyn")}`,
    ]);
    expect([code, out + err]).toEqual([0, expect.stringContaining("new IP# 203.0.113.7")]);
    expect(await records()).toEqual(["home A 203.0.113.7"]);
  });
});
