import { flushCompileCache } from "node:module";
import { signingKeyFile } from "../../src/records/open-store.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import { migrations } from "../../src/records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { takeSigningStep } from "./signing-step.ts";

/**
 * Takes a zone from stage to stage without pause, again and again, and prints each stage. Continues where an earlier
 * process was killed, towards the given stage.
 * `node test/store/signing-process.ts DATABASE FOLDER ZONE STAGE`
 */
const [, , database = "", folder = "", name = "", target = ""] = process.argv;
// It is killed, and would leave nothing in the cache.
flushCompileCache();
const signer = new KeyFileSigner(signingKeyFile(folder));
const store = openSqliteStore(database, migrations, signer);

for (;;) process.stdout.write(`${await takeSigningStep(store, signer, name, target)}\n`);
