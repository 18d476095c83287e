import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseNetwork } from "../../src/core/addresses/network.ts";
import { type Scope, wholeAccount } from "../../src/core/may.ts";
import type { RRset } from "../../src/core/records/rrset.ts";
import type { ServerTls } from "../../src/nameserver/listen/tls.ts";
import { transferPlace } from "../../src/nameserver/metrics/metrics.ts";
import { createLog } from "../../src/process/log.ts";
import { plainSettings, type Zone, type ZoneSettings } from "../../src/records/model.ts";
import { newRecordId } from "../../src/records/new-id.ts";
import { KeyFileSigner, type Signer } from "../../src/records/signing/signer.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { migrations } from "../../src/records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { startDns, type TransferOptions } from "../../src/serving/start.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { patience } from "../rig/patience.ts";
import { createZoneIn, writeTo } from "../rig/store/write.ts";

/** The nameserver in this process, on a store in memory unless a file is given. */
export type MoorDns = {
  readonly store: RecordStore;
  readonly signer: Signer;
  readonly account: number;
  readonly port: number;
  /** 0 without TLS. */
  readonly tlsPort: number;
  readonly log: () => string;
  /** In the account `main`, unless another is named. */
  readonly makeZone: (name: string, text?: string, settings?: Partial<ZoneSettings>, of?: string) => Promise<Zone>;
  /** Replaces all sets except the SOA. */
  readonly write: (zone: Zone, text: string) => Promise<void>;
  /** A key in the format of `nsupdate -y` and `dig -y`. */
  readonly makeKey: (name: string, scope?: Scope, account?: number) => Promise<string>;
  readonly dig: (...words: readonly string[]) => Promise<string>;
  /** How many transfers it has sent. */
  readonly transfers: (kind: "axfr" | "ixfr") => number;
  readonly close: () => Promise<void>;
};

const soaOf = (serial: number) => `@ 3600 SOA ns1 hostmaster ${serial} 7200 900 1209600 300\n`;

export async function startMoorDns(
  { tls, ...transfers }: Partial<TransferOptions> & { readonly tls?: ServerTls } = {},
  database = ":memory:",
  keyFile?: string,
): Promise<MoorDns> {
  const folder = mkdtempSync(join(tmpdir(), "moor-keys-"));
  const signer = new KeyFileSigner(keyFile ?? join(folder, "key"));
  const store = openSqliteStore(database, migrations, signer);
  const { id: account } = await store.ensureAccount("main", Date.now());
  let said = "";
  const log = createLog({
    format: "text",
    write: (line) => {
      said += line;
    },
  });
  const dns = await startDns({
    listen: [{ host: "127.0.0.1", port: 0 }],
    ...(tls && { overTls: { listen: [{ host: "127.0.0.1", port: 0 }], tls } }),
    store,
    nameservers: ["ns1.moor.invalid"],
    log,
    transfers: { networks: [], notify: [], catalog: undefined, allowedPrimaries: everyone, ...transfers },
  });
  const port = dns.addresses[0]?.port ?? 0;
  return {
    store,
    signer,
    account,
    port,
    tlsPort: dns.tlsAddresses[0]?.port ?? 0,
    log: () => said,
    makeZone: async (name, text = "", settings = {}, of = "main") => {
      const sets = withIds(writtenSets(name, soaOf(1) + text));
      const all = { ...plainSettings(600), ...settings };
      const owner = await store.ensureAccount(of, Date.now());
      const zone = await createZoneIn(
        store,
        { account: owner.id, id: name, name, settings: all, serial: 1, created: Date.now(), sets },
        "test",
      );
      if (typeof zone === "string") throw new Error(`${name} is there`);
      return zone;
    },
    write: async ({ id, name }, text) => {
      const request = { account, at: { zone: id }, owners: "all", actor: "test", now: Date.now() } as const;
      await writeTo(store, request, ({ sets }) => {
        const soa = sets.filter((set) => set.type === "SOA");
        return { wanted: [...soa, ...withIds(writtenSets(name, text))], result: undefined };
      });
    },
    makeKey: async (name, scope = wholeAccount, of) => {
      const secret = randomBytes(32).toString("base64");
      const key = { name, algorithm: "hmac-sha256", secret, account: of, scope, created: Date.now() } as const;
      if ((await store.addTransferKey(key)) === "name-taken") throw new Error(`${name} is there`);
      return `hmac-sha256:${name}:${secret}`;
    },
    dig: (...words) => run("dig", ["@127.0.0.1", "-p", `${port}`, "+tries=1", "+time=15", ...words]),
    transfers: (kind) => dns.counters[0]?.transfers[transferPlace("out", kind, "done")] ?? 0,
    close: async () => {
      await dns.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const everyone = [parseNetwork("127.0.0.0/8")].flatMap((network) => network ?? []);

/** The output of a program, whether or not it succeeded. */
export function run(program: string, words: readonly string[], input = ""): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(program, words, { timeout: patience }, (_, out, err) => resolve(`${out}${err}`.trim()));
    // A program that reads no input may exit before we write to it.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

const withIds = (sets: readonly RRset[]): readonly RRset[] =>
  sets.map((set) => ({ ...set, records: set.records.map((record) => ({ ...record, id: newRecordId() })) }));
