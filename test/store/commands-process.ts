import { flushCompileCache } from "node:module";
import { wholeAccount } from "../../src/core/may.ts";
import { createLog } from "../../src/process/log.ts";
import { signingKeyFile } from "../../src/records/open-store.ts";
import { createRecordService } from "../../src/records/service.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { openPostgresStore } from "../../src/records/store/postgres/store.ts";
import { migrations } from "../../src/records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { addressOf } from "../rig/records/postgres.ts";
import { createWriters } from "./command-writers.ts";

/**
 * Runs commands of every kind without pause, each writer in a zone of its own. Before each command a writer prints what
 * it is about to make of its zone, and after the answer that it is done. Continues where an earlier process was killed.
 * `node test/store/commands-process.ts FOLDER DATABASE`, where the database is a file or a URL.
 */
const [, , folder = "", place = ""] = process.argv;
// It is killed, and would leave nothing in the cache.
flushCompileCache();
const keyFile = signingKeyFile(folder);
const signer = new KeyFileSigner(keyFile);

async function open(): Promise<RecordStore> {
  if (place.startsWith("postgres:")) {
    const log = createLog({ format: "text", write: (line) => void process.stderr.write(line) });
    const store = await openPostgresStore({ address: addressOf(place), log, signer });
    store.signChanges();
    return store;
  }
  return openSqliteStore(place, migrations, signer);
}

const store = await open();
const account = await store.ensureAccount("main", Date.now());
const actor = { account: account.id, label: "storm", scope: wholeAccount };
const service = createRecordService({
  store,
  signer,
  now: Date.now,
  nameservers: ["ns1.example.net"],
  answerAfter: Number.POSITIVE_INFINITY,
});

for (const [kind, writer] of Object.entries(createWriters({ store, signer, service, actor, account })))
  void (async () => {
    for (let n = 0; ; n++)
      for await (const state of writer(n)) process.stdout.write(`${kind} ${JSON.stringify(state)}\n`);
  })().catch((error: unknown) => {
    console.error(kind, error);
    process.exit(1);
  });
