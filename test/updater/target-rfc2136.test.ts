import { run, startMoorDns } from "../nameserver/moor-dns.ts";
import { rowsOf } from "../rig/long-run.ts";
import { hasZone, recordsAt } from "../rig/updater/records-at.ts";
import { printLine, setsOf } from "../rig/updater/set-lines.ts";
import type { TargetPeer } from "../rig/updater/target-faults.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";
import { startUpdateServer, tsigSecret, type UpdateServerName } from "../rig/updater/update-servers.ts";

const key = `hmac-sha256:home:${tsigSecret}`;
const names = ["home", "other", "new", "@"];
const types = ["A", "AAAA", "TXT"] as const;

const absolute = (name: string) => (name === "@" ? "example.org" : `${name}.example.org`);

/** Filled with nsupdate, and read by queries. */
function peerAt(port: number, close: () => Promise<void>): TargetPeer {
  return {
    settings: `server: "127.0.0.1:${port}", keyFile: secret`,
    async fill(lines) {
      const deletions = names.flatMap((name) => types.map((type) => `update delete ${absolute(name)}. ${type}`));
      const additions = setsOf(lines).flatMap(({ name, ttl, type, values }) =>
        values.map((value) => `update add ${absolute(name)}. ${ttl} ${type} ${value}`),
      );
      const text = [`server 127.0.0.1 ${port}`, "zone example.org", ...deletions, ...additions, "send", ""].join("\n");
      const said = await run("nsupdate", ["-v", "-y", key], text);
      if (said !== "") throw new Error(said);
    },
    async held() {
      const questions = names.flatMap((name) => types.map((type) => [absolute(name), type] as const));
      const found = await recordsAt(port, questions);
      const relative = (name: string) => name.replace(/\.?example\.org$/, "") || "@";
      return found.map((record) => printLine({ ...record, name: relative(record.name) })).toSorted();
    },
    close,
  };
}

async function openServer(name: UpdateServerName): Promise<TargetPeer> {
  const { port, close } = await startUpdateServer(name, hasZone);
  return peerAt(port, close);
}

async function openMoor(): Promise<TargetPeer> {
  const moor = await startMoorDns();
  await moor.makeZone("example.org", "@ 600 NS ns1\n");
  await moor.store.addTransferKey({
    ...{ name: "home", algorithm: "hmac-sha256", secret: tsigSecret, account: undefined, created: 1 },
    scope: { access: "write" },
  });
  return peerAt(moor.port, moor.close);
}

const peers: readonly (readonly [string, () => Promise<TargetPeer>])[] = [
  ["BIND", () => openServer("BIND")],
  ["Knot", () => openServer("Knot")],
  ["PowerDNS", () => openServer("PowerDNS")],
  ["moor", openMoor],
];

// The calls are those of the provider, which test/providers/dns-update.test.ts tries on the other two.
for (const [title, open] of rowsOf(peers, "Knot", "moor")) {
  describeTarget({
    ...{ api: "rfc2136", title, open, secret: tsigSecret, several: "left alone", lists: false, together: true },
    fileOf: (secret) =>
      `key "home" { algorithm hmac-sha256; secret "${Buffer.from(secret, "base64").toString("base64")}"; };`,
  });
}
