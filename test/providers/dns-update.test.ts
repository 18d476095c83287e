import { connect, createServer } from "node:net";
import { expect, it } from "vitest";
import type { TsigKey } from "../../src/lib/dns/tsig.ts";
import { openProvider } from "../../src/providers/open-provider.ts";
import { run, startMoorDns } from "../nameserver/moor-dns.ts";
import { rowsOf } from "../rig/long-run.ts";
import { changesFor, describeProvider } from "../rig/providers/provider-suite.ts";
import { setsOf } from "../rig/updater/set-lines.ts";
import { never, type TargetPeer } from "../rig/updater/target-faults.ts";
import { startUpdateServer, tsigSecret, type UpdateServerName } from "../rig/updater/update-servers.ts";

const key = `hmac-sha256:home:${tsigSecret}`;
const absolute = (name: string) => (name === "@" ? "example.org." : `${name}.example.org.`);

/** The port of the server that runs now. */
let port = 0;

/** What a test left there. Read in this process: dig, which `held` uses, takes ten times as long. */
async function setsNow(): Promise<readonly { readonly owner: string; readonly type: string }[]> {
  const provider = await openAt(port, tsigSecret);
  const listed = await provider.sets("example.org", never);
  provider.close();
  if (listed.kind !== "found") throw new Error(JSON.stringify(listed));
  return listed.value.sets.filter((set) => isOurs(set.owner, set.type));
}

const isOurs = (owner: string, type: string): boolean =>
  type !== "SOA" && !(type === "NS" && owner === "@") && owner !== "ns1";

/** Filled with nsupdate, and read by a transfer with dig. */
function peerAt(close: () => Promise<void>): TargetPeer {
  const held = async () => {
    const options = ["@127.0.0.1", "-p", `${port}`, "-y", key, "+noall", "+answer", "+onesoa"];
    const said = await run("dig", [...options, "example.org", "AXFR"]);
    return said
      .split("\n")
      .flatMap((line) => {
        const [, whole = "", ttl = "", type = "", value = ""] =
          /^(\S+)\.\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? [];
        const name = whole.replace(/\.?example\.org$/, "") || "@";
        return type !== "" && isOurs(name, type) ? [`${name} ${ttl} ${type} ${value}`] : [];
      })
      .toSorted();
  };
  return {
    settings: "",
    held,
    async fill(lines) {
      const gone = (await setsNow()).map(({ owner, type }) => `update delete ${absolute(owner)} ${type}`);
      const added = setsOf(lines).flatMap(({ name, ttl, type, values }) =>
        values.map((value) => `update add ${absolute(name)} ${ttl} ${type} ${value}`),
      );
      if (gone.length + added.length === 0) return;
      const text = [`server 127.0.0.1 ${port}`, "zone example.org", ...gone, ...added, "send", ""].join("\n");
      const said = await run("nsupdate", ["-v", "-y", key], text);
      if (said !== "") throw new Error(said);
    },
    close,
  };
}

const isUp = async (at: number) =>
  /\b1 7200 900\b/.test(
    await run("dig", ["@127.0.0.1", "-p", `${at}`, "+tries=1", "+time=1", "+short", "example.org", "SOA"]),
  );

async function openServer(name: UpdateServerName): Promise<TargetPeer> {
  const server = await startUpdateServer(name, isUp);
  port = server.port;
  return peerAt(server.close);
}

async function openMoor(): Promise<TargetPeer> {
  const moor = await startMoorDns();
  await moor.makeZone("example.org", "@ 600 NS ns1.example.net.\n");
  await moor.store.addTransferKey({
    ...{ name: "home", algorithm: "hmac-sha256", secret: tsigSecret, account: undefined, created: 1 },
    scope: { access: "write" },
  });
  port = moor.port;
  return peerAt(moor.close);
}

const servers = [
  ["BIND", { open: () => openServer("BIND"), badSet: "unknown", many: 1_200 }],
  ["Knot", { open: () => openServer("Knot"), badSet: "unknown", many: 1_200 }],
  // It takes a second to store 1,200 sets, and to delete them again.
  ["PowerDNS", { open: () => openServer("PowerDNS"), badSet: "refused", many: 300 }],
  ["moor", { open: openMoor, badSet: "unknown", many: 1_200 }],
] as const;

const openAt = (at: number, secret: string) => {
  const tsig: TsigKey = {
    name: "home",
    algorithm: "hmac-sha256",
    secret: new Uint8Array(Buffer.from(secret, "base64")),
  };
  return openProvider({ kind: "dns-update", host: "127.0.0.1", port: at, key: () => tsig });
};

// test/updater/target-rfc2136.test.ts makes the same calls on the other two.
for (const [title, { open, badSet, many }] of rowsOf(servers, "BIND", "PowerDNS"))
  describeProvider({
    ...{
      title: `DNS UPDATE, ${title}`,
      open,
      badSet,
      secret: tsigSecret,
      many,
      zones: false,
      doubtsRefusals: true,
    },
    connect: (_, secret) => openAt(port, secret),
    more(rig) {
      it("an update whose answer is lost is unknown, and a read shows the truth", async () => {
        const proxy = createServer((client) => {
          const server = connect(port, "127.0.0.1");
          client.on("error", () => server.destroy()).pipe(server);
          server.on("error", () => client.destroy()).once("data", () => client.destroy());
        });
        await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
        const behind = await openAt((proxy.address() as { port: number }).port, tsigSecret);
        const outcomes = await behind.write("example.org", changesFor(["www 300 A 192.0.2.1"]), never);
        proxy.close();
        expect(outcomes).toMatchObject([{ kind: "unknown" }]);
        const found = await rig.provider.set("example.org", "www", "A", never);
        expect(found).toMatchObject({ value: { values: ["192.0.2.1"] } });
      });

      it("deletes a name for which a wildcard answers from then on", async () => {
        await rig.peer.fill(["*.wild 300 A 192.0.2.9", "a.wild 300 A 192.0.2.1"]);
        const changes = [{ owner: "a.wild", type: "A", content: undefined }] as const;
        expect(await rig.provider.write("example.org", changes, never)).toEqual([{ kind: "done", set: undefined }]);
        expect(await rig.peer.held()).toEqual(["*.wild 300 A 192.0.2.9"]);
      });

      it("turns an address into an alias and back", async () => {
        await rig.peer.fill(["x 300 A 192.0.2.1"]);
        const address = changesFor(["x 300 A 192.0.2.1"]);
        const alias = changesFor(["x 300 CNAME www.example.net."]);
        const gone = (changes: typeof address) => changes.map((change) => ({ ...change, content: undefined }));
        const there = await rig.provider.write("example.org", [...gone(address), ...alias], never);
        expect(there.map(({ kind }) => kind)).toEqual(["done", "done"]);
        expect(await rig.peer.held()).toEqual(["x 300 CNAME www.example.net."]);
        const back = await rig.provider.write("example.org", [...gone(alias), ...address], never);
        expect(back.map(({ kind }) => kind)).toEqual(["done", "done"]);
      });
    },
  });
