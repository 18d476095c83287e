import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itInLongRuns } from "../rig/it-in-long-runs.ts";
import type { StartedProcess } from "../rig/started-process.ts";
import { run } from "./moor-dns.ts";
import { type Lab, openLab, type ServerName } from "./secondary-lab.ts";

const followers = ["knot", "bind", "powerdns"] as const;
const all = [...followers, "nsd"] as const;
let lab: Lab;
const servers = new Map<ServerName, StartedProcess>();
let zone: string;
const folder = mkdtempSync(join(tmpdir(), "moor-verified-"));

beforeAll(async () => {
  lab = await openLab();
  zone = await lab.api.makeZone("example.org");
  await lab.api.makeRecord({ zone_id: zone, name: "www", type: "A", value: "198.51.100.1" });
  for (const name of all) servers.set(name, await lab.startServer(name));
});
afterAll(async () => {
  await lab?.close();
  rmSync(folder, { recursive: true, force: true });
});

const expectEverywhere = async (question: string, answer: string, names: readonly ServerName[] = all) => {
  try {
    await lab.answerAll(names, question, answer);
  } catch (error) {
    const said = [...servers].map(([name, { out, err }]) => `--- ${name}\n${out()}${err()}`).join("\n");
    throw new Error(`${(error as Error).message}\n${lab.moor.err()}\n${said}`, { cause: error });
  }
};

/** All records of the zone that a server has, in one order for all. */
const recordsAt = async (name: ServerName): Promise<string> => {
  const text = await lab.dig(name, "+noall", "+answer", "+onesoa", "example.org", "AXFR");
  return `${text.split("\n").sort().join("\n")}\n`;
};

/** What BIND's check says about the zone. */
async function verified(text: string): Promise<string> {
  const file = join(folder, "zone");
  writeFileSync(file, text);
  return await run("dnssec-verify", ["-z", "-o", "example.org", file]);
}

describe("nameservers set up as docs/nameservers.md says", () => {
  it("have the zone that existed before they started", async () => {
    await expectEverywhere("www.example.org A", "198.51.100.1");
  });

  it("get a changed record", async () => {
    const made = await lab.api.makeRecord({ zone_id: zone, name: "new", type: "A", value: "198.51.100.2" });
    await expectEverywhere("new.example.org A", "198.51.100.2");
    const changed = { zone_id: zone, name: "new", type: "A", value: "198.51.100.3", ttl: 60 };
    await lab.api.ask("PUT", `/records/${made}`, changed);
    await expectEverywhere("new.example.org A", "198.51.100.3");
    await lab.api.ask("DELETE", `/records/${made}`);
    await expectEverywhere("new.example.org A", "");
  });

  it("have the same records as moor, of every type", async () => {
    const values = [
      ["AAAA", "2001:db8::1"],
      ["MX", "10 mail.example.org."],
      ["TXT", '"some text" "and more"'],
      ["SRV", "0 5 5060 sip.example.org."],
      ["CAA", '0 issue "ca.example"'],
      ["TLSA", `3 1 1 ${"ab".repeat(32)}`],
      ["DS", `12345 13 2 ${"cd".repeat(32)}`],
      ["HINFO", '"cpu" "os"'],
    ] as const;
    for (const [type, value] of values) await lab.api.makeRecord({ zone_id: zone, name: "types", type, value });
    await expectEverywhere("example.org SOA", await lab.dig("moor", "+short", "example.org", "SOA"));
    const questions = values.map(([type]) => `types.example.org ${type}`);
    const [ours = "", ...theirs] = await lab.answers(["moor", ...all], ...questions);
    expect(ours.split("\n")).toHaveLength(values.length);
    expect(theirs).toEqual(all.map(() => ours));
  });

  it("get a new zone, and lose it when it is deleted", async () => {
    const second = await lab.api.makeZone("second.example");
    await lab.api.makeRecord({ zone_id: second, name: "www", type: "A", value: "198.51.100.9" });
    await expectEverywhere("www.second.example A", "198.51.100.9", followers);
    await lab.api.ask("DELETE", `/zones/${second}`);
    for (const name of followers) {
      await expect
        .poll(() => lab.dig(name, "www.second.example", "A"), { interval: 200 })
        .toMatch(/status: (REFUSED|NXDOMAIN)/);
    }
  });

  it("keep answering while moor is stopped, and are notified when it is back", async () => {
    await lab.restartMoor(() => expectEverywhere("www.example.org A", "198.51.100.1"));
    await lab.api.makeRecord({ zone_id: zone, name: "after", type: "A", value: "198.51.100.4" });
    await expectEverywhere("after.example.org A", "198.51.100.4");
  });

  it("catch up after they were stopped", async () => {
    for (const name of all) await servers.get(name)?.stop("SIGTERM");
    await lab.api.makeRecord({ zone_id: zone, name: "late", type: "A", value: "198.51.100.5" });
    for (const name of all) servers.set(name, await lab.startServer(name));
    await expectEverywhere("late.example.org A", "198.51.100.5");
  });

  // signing.test.ts compares and verifies signed zones at NSD, Knot and BIND after changes.
  itInLongRuns("have a completely valid signed zone after every change", async () => {
    await lab.api.makeRecord({ zone_id: zone, name: "@", type: "NS", value: "ns1.example.org." });
    await lab.administer("dnssec", "on", "example.org", "--nsec3");
    const values = Array.from({ length: 8 }, (_, i) => `198.51.100.${100 + i}`);
    for (const [i, value] of values.entries()) {
      await lab.api.makeRecord({ zone_id: zone, name: `signed${i % 5}.deep${i % 3}`, type: "A", value });
      if (i % 4 !== 3) continue;
      await expectEverywhere("example.org SOA", await lab.dig("moor", "+short", "example.org", "SOA"));
      const [first = "", ...others] = await Promise.all(all.map(recordsAt));
      expect(await verified(first)).toContain("Zone fully signed");
      expect(others).toEqual(others.map(() => first));
    }
    expect(servers.get("knot")?.out()).toMatch(/\[example\.org\.\] IXFR, incoming.*finished/);
  });

  it("are refused with a revoked key, and without a key", async () => {
    const transfer = () => lab.dig("moor", "-k", "/etc/bind/moor-key.conf", "example.org", "AXFR");
    expect(await transfer()).toContain("XFR size");
    await lab.administer("transfer-key", "revoke", "bind");
    expect(await transfer()).toMatch(/NOTAUTH.*BADKEY|BADKEY|NOTAUTH/s);
    expect(await lab.dig("moor", "example.org", "AXFR")).toContain("Transfer failed");
    expect(await lab.dig("moor", "catalog.moor.invalid", "SOA")).toContain("status: REFUSED");
  });
});
