import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { algorithms } from "../../src/core/dnssec/codes.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { recordsDatabase, signingKeyFile } from "../../src/records/open-store.ts";
import type { Actor } from "../../src/records/queries/permitted-view.ts";
import { createRecordService } from "../../src/records/service.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { migrations } from "../../src/records/store/sqlite/schema.ts";
import { openSqliteStore, type SqliteStore } from "../../src/records/store/sqlite/store.ts";

/** Rows that are read in one pass of the event loop, in which nobody else is answered. */
const mostRows = 1_100;
const names = 2_500;

let folder: string;
let file: SqliteStore;
let account: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-long-work-"));
  file = openSqliteStore(recordsDatabase(folder), migrations, new KeyFileSigner(signingKeyFile(folder)));
  account = (await file.ensureAccount("main", 1)).id;
});
afterAll(async () => {
  await file.drain();
  file.close();
  rmSync(folder, { recursive: true });
});

/** The same store; counts the rows that it returns until the event loop has its next pass. */
function countingRows(store: RecordStore) {
  const worst = { rows: 0, reads: "" };
  let [rows, reads] = [0, [] as string[]];
  const count = (name: string, some: number) => {
    if (rows === 0) setImmediate(() => ([rows, reads] = [0, []]));
    [rows, reads] = [rows + some, [...reads, name]];
    if (rows > worst.rows) Object.assign(worst, { rows, reads: [...new Set(reads)].join(", ") });
  };
  const counted = new Proxy(store, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result: unknown = member.apply(target, args);
        if (!(result instanceof Promise)) return result;
        return result.then((value: unknown) => {
          if (Array.isArray(value) && value.length > 0) count(String(key), value.length);
          return value;
        });
      };
    },
  });
  return { counted, worst };
}

const fileWith = (network: number): string =>
  [
    "$TTL 3600",
    "@ SOA ns1.example.net. hostmaster.example.net. 1 3600 300 604800 3600",
    "@ NS ns1.example.net.",
    ...Array.from({ length: names }, (_, i) => `h${i} A 10.${network}.${i >> 8}.${i & 255}`),
  ].join("\n");

it("no work on a large zone keeps others waiting for more than one page of rows", async () => {
  const { counted, worst } = countingRows(file);
  const now = Date.now();
  const options = {
    store: counted,
    signer: new KeyFileSigner(signingKeyFile(folder)),
    now: () => now,
    nameservers: ["ns1.example.net"] as const,
  };
  const service = createRecordService({ ...options, answerAfter: Number.POSITIVE_INFINITY });
  const actor = { account, label: "test", scope: wholeAccount };
  const oneName: Actor = { ...actor, scope: { access: "read", sets: [{ owner: "h1" }] } };
  const at = { name: "a.example" };
  const content = (network: number) => ({ text: fileWith(network), otherServers: false, merge: false });
  const choice = { algorithm: algorithms.ecdsap256, denial: "nsec" } as const;
  const work: Readonly<Record<string, () => Promise<{ readonly kind: string }>>> = {
    create: () => service.createZone(actor, { ...at, content: { kind: "file", text: fileWith(1) } }),
    import: () => service.importFile(actor, at, content(2)),
    "import again": () => service.importFile(actor, at, content(3)),
    export: () => service.exportZone(actor, at, "rrsets"),
    sign: () => service.signZone(actor, at, choice),
    "change the proofs": () => service.changeDenial(actor, at, "nsec3"),
    unsign: () => service.unsignZone(actor, at, true),
    "the history of one name": () => service.history(oneName, at, { limit: 100 }),
    delete: () => service.deleteZone(actor, at),
  };
  const found: object[] = [];
  for (const [name, run] of Object.entries(work)) {
    Object.assign(worst, { rows: 0, reads: "" });
    const { kind } = await run();
    found.push({ name, kind, ...(worst.rows > mostRows && worst) });
  }
  expect(found).toEqual(Object.keys(work).map((name) => ({ name, kind: "done" })));
});
