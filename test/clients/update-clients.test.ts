import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorityUrl, type HostedName, hostName, nameserver, startAuthority } from "../rig/hosted-name.ts";
import { itInLongRuns } from "../rig/it-in-long-runs.ts";
import { isLongRun } from "../rig/long-run.ts";
import { administer } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";

/** With the settings of docs/clients.md. */
describe("programs of Debian that write by DNS UPDATE, each with its own key", () => {
  let inside: Namespace;
  let folder: string;
  let name: HostedName;
  let zone: string;

  beforeAll(async () => {
    inside = await openNamespace();
    folder = mkdtempSync(join(tmpdir(), "moor-update-clients-"));
    name = await hostName(inside, folder);
    zone = (await name.ask("POST", "/zones", { name: "example.org", ttl: 60 })).zone?.id ?? "";
    await name.ask("POST", "/records", { zone_id: zone, type: "NS", name: "@", value: `${nameserver}.` });
    await name.ask("POST", "/records", { zone_id: zone, type: "A", name: "ns1", value: "127.0.0.1" });
    await name.ask("POST", "/zones", { name: "2.0.192.in-addr.arpa", ttl: 60 });
  });
  afterAll(() => inside.close());

  const addKey = async (...words: readonly string[]): Promise<string> => {
    const add = ["transfer-key", "add", ...words, "--update", "--data", join(folder, "data")];
    const { out } = await administer(add);
    return /secret "?([A-Za-z0-9+/]+=*)"?/.exec(out)?.[1] ?? "";
  };
  const dig = async (...question: readonly string[]) =>
    (await inside.run(["dig", "+short", "@127.0.0.1", ...question])).out.trim();

  // lego.test.ts gets certificates by DNS UPDATE and with a wildcard. octodns uses dnspython below, as certbot does.
  itInLongRuns("certbot gets a certificate with a wildcard, and leaves nothing behind in the zone", async () => {
    await startAuthority(inside, folder);
    const secret = await addKey("certbot", "--zone", "example.org", "--set", "_acme-challenge.www TXT");
    const credentials = [
      "dns_rfc2136_server = 127.0.0.1",
      "dns_rfc2136_name = certbot.",
      `dns_rfc2136_secret = ${secret}`,
      "dns_rfc2136_algorithm = HMAC-SHA256",
    ];
    writeFileSync(join(folder, "moor.ini"), `${credentials.join("\n")}\n`, { mode: 0o600 });
    const words = ["certonly", "--authenticator", "dns-rfc2136", "--dns-rfc2136-credentials", "moor.ini"];
    const names = ["--dns-rfc2136-propagation-seconds", "0", "-d", "www.example.org", "-d", "*.www.example.org"];
    const account = ["--server", authorityUrl, "--non-interactive", "--agree-tos", "-m", "a@example.org"];
    const folders = ["--config-dir", "certbot", "--work-dir", "certbot/work", "--logs-dir", "certbot/logs"];
    const env = { REQUESTS_CA_BUNDLE: name.caFile };
    const { code, out, err } = await name.run(["certbot", ...words, ...names, ...account, ...folders], env);
    expect([code, out + err]).toEqual([0, expect.stringContaining("Successfully received certificate")]);
    const { records = [] } = await name.ask("GET", `/records?zone_id=${zone}`);
    expect(records.filter(({ type }) => type === "TXT")).toEqual([]);
  });

  it("Kea's DDNS server adds the names of a lease, and removes them with it", async () => {
    const [forward, reverse] = ["example.org.", "2.0.192.in-addr.arpa."];
    const secret = await addKey("kea", "--zone", forward, "--zone", reverse, "--type", "A,AAAA,DHCID,PTR");
    const domain = (zoneName: string) => ({
      name: zoneName,
      "key-name": "kea",
      "dns-servers": [{ "ip-address": "127.0.0.1", port: 53 }],
    });
    const output = [{ output: "stdout", flush: true }];
    const config = {
      "tsig-keys": [{ name: "kea", algorithm: "HMAC-SHA256", secret }],
      "forward-ddns": { "ddns-domains": [domain(forward)] },
      "reverse-ddns": { "ddns-domains": [domain(reverse)] },
      loggers: [{ name: "kea-dhcp-ddns", output_options: output, severity: "DEBUG", debuglevel: 50 }],
    };
    writeFileSync(join(folder, "kea.json"), JSON.stringify({ DhcpDdns: config }));
    const env = { KEA_PIDFILE_DIR: folder, KEA_LOCKFILE_DIR: "none" };
    const kea = inside.start(["kea-dhcp-ddns", "-c", join(folder, "kea.json")], { env });
    await kea.says(/DHCP_DDNS_QUEUE_MGR_STARTED/);

    await sendLease(0);
    await kea.says(/DHCP_DDNS_ADD_(SUCCEEDED|FAILED)/);
    expect(await dig("laptop.example.org", "A")).toBe("192.0.2.7");
    expect(await dig("laptop.example.org", "DHCID")).not.toBe("");
    expect(await dig("-x", "192.0.2.7")).toBe("laptop.example.org.");

    await sendLease(1);
    await kea.says(/DHCP_DDNS_REMOVE_(SUCCEEDED|FAILED)/);
    expect(await dig("laptop.example.org", "A", "laptop.example.org", "DHCID", "-x", "192.0.2.7")).toBe("");
  });

  // It takes seconds. It sends its changes with dnspython, as certbot does; nameserver/nsupdate.test.ts has what it
  // relies on to find a record unchanged.
  it.each(isLongRun ? ["Ansible"] : [])(
    "%s's nsupdate creates a record, finds it unchanged, replaces and removes it",
    async () => {
      const secret = await addKey("externaldns", "--zone", "example.org");
      const key = { key_name: "externaldns", key_algorithm: "hmac-sha256", key_secret: secret };
      const task = (more: object) => ({
        "community.general.nsupdate": {
          server: "127.0.0.1",
          ...key,
          zone: "example.org",
          record: "app",
          type: "A",
          ...more,
        },
      });
      const values = [{ value: "192.0.2.7" }, { value: "192.0.2.7" }, { value: "192.0.2.8" }, { state: "absent" }];
      const play = { hosts: "localhost", connection: "local", gather_facts: false, tasks: values.map(task) };
      writeFileSync(join(folder, "play.json"), JSON.stringify([play]));
      const env = { ANSIBLE_LOCAL_TEMP: join(folder, "ansible"), ANSIBLE_STDOUT_CALLBACK: "json", HOME: folder };
      const vars = "ansible_python_interpreter=/usr/bin/python3";
      const { out } = await inside.run(["ansible-playbook", "-e", vars, join(folder, "play.json")], { env });
      const { plays } = JSON.parse(out) as { plays: { tasks: { hosts: { localhost: { changed: boolean } } }[] }[] };
      expect(plays[0]?.tasks.map(({ hosts }) => hosts.localhost.changed)).toEqual([true, false, true, true]);
    },
  );

  it("octodns lists the zone, with dnspython", async () => {
    const secret = await addKey("octodns", "--zone", "example.org");
    writeFileSync(join(folder, "list.py"), listing.replace("SECRET", secret));
    const { out } = await inside.run(["/usr/bin/python3", join(folder, "list.py")]);
    expect(out.trim()).toBe("127.0.0.1");
  });

  const listing = `
import dns.query, dns.tsigkeyring, dns.zone
keyring = dns.tsigkeyring.from_text({"octodns": "SECRET"})
transfer = dns.query.xfr("127.0.0.1", "example.org", keyring=keyring, keyname="octodns", keyalgorithm="hmac-sha256")
print(dns.zone.from_xfr(transfer).get_rdataset("ns1", "A")[0])
`;

  /** What Kea's DHCP server sends to its DDNS server: JSON behind its length, in one datagram. 0 adds, 1 removes. */
  const sendLease = async (change: 0 | 1) => {
    const request = {
      ...{ "change-type": change, "forward-change": true, "reverse-change": true, "use-conflict-resolution": true },
      ...{ fqdn: "laptop.example.org.", "ip-address": "192.0.2.7", dhcid: `000101${"5A".repeat(32)}` },
      ...{ "lease-expires-on": "20991231235959", "lease-length": 3600 },
    };
    const json = Buffer.from(JSON.stringify(request));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(json.length);
    const file = join(folder, "lease");
    writeFileSync(file, Buffer.concat([length, json]));
    await inside.run(["bash", "-c", `cat ${file} > /dev/udp/127.0.0.1/53001`]);
  };
});
