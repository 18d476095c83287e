import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorityUrl, type HostedName, hostName, nameserver, startAuthority } from "../rig/hosted-name.ts";
import { prepareWithMoor } from "../rig/moor.ts";
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
    const { out } = await prepareWithMoor(inside, add);
    return /secret "?([A-Za-z0-9+/]+=*)"?/.exec(out)?.[1] ?? "";
  };
  const dig = async (...question: readonly string[]) =>
    (await inside.run(["dig", "+short", "@127.0.0.1", ...question])).out.trim();

  it("certbot gets a certificate with a wildcard, and leaves nothing behind in the zone", async () => {
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

  it("dnspython asks, writes and lists a zone as Ansible's nsupdate and octodns do", async () => {
    const secret = await addKey("externaldns", "--zone", "example.org");
    const script = join(folder, "ansible.py");
    writeFileSync(script, asAnsible.replace("SECRET", secret));
    const { out, err } = await inside.run(["/usr/bin/python3", script]);
    expect([err, out.trim().split("\n")]).toEqual([
      "",
      ["NXRRSET", "NOERROR", "NOERROR NOERROR 300", "NOERROR NXRRSET", "NOERROR", "192.0.2.8", "NOERROR", "False"],
    ]);
  });

  /**
   * The messages of community.general's nsupdate, which needs dnspython: create a record, find it unchanged, replace it
   * and remove it. octodns lists the zone like this.
   */
  const asAnsible = `
import dns.message, dns.query, dns.rcode, dns.tsigkeyring, dns.update, dns.zone
server, algorithm = "127.0.0.1", "hmac-sha256"
keyring = dns.tsigkeyring.from_text({"externaldns": "SECRET"})
new = lambda: dns.update.Update("example.org.", keyring=keyring, keyname="externaldns", keyalgorithm=algorithm)
send = lambda message: dns.rcode.to_text(dns.query.tcp(message, server, timeout=10).rcode())
def exists(value):
    update = new()
    update.present("app", "A")
    first = send(update)
    if first != "NOERROR": return [first]
    update.present("app", "A", value)
    return [first, send(update)]
def write(*values):
    update = new()
    update.delete("app", "A")
    for value in values: update.add("app", 300, "A", value)
    return send(update)
def listed():
    return dns.zone.from_xfr(dns.query.xfr(server, "example.org", keyring=keyring, keyname="externaldns", keyalgorithm=algorithm))
print(*exists("192.0.2.7"))
print(write("192.0.2.7"))
question = dns.message.make_query("app.example.org.", "A")
question.use_tsig(keyring=keyring, keyname="externaldns", algorithm=algorithm)
print(*exists("192.0.2.7"), dns.query.tcp(question, server, timeout=10).answer[0].ttl)
print(*exists("192.0.2.8"))
print(write("192.0.2.8"))
print(listed().get_rdataset("app", "A")[0])
print(write())
print("app" in listed())
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
