import { flushCompileCache } from "node:module";
import { signingKeyFile } from "../../src/records/open-store.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import { migrations } from "../../src/records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { signZone, unsignNow } from "../rig/records/sign.ts";
import { writeTo } from "../rig/store/write.ts";

/**
 * Signs a large zone, changes its TTL and unsigns it, again and again, and prints what it begins with.
 * `node test/store/whole-zone-process.ts DATABASE FOLDER ZONE`
 */
const [, , database = "", folder = "", name = ""] = process.argv;
// It is killed, and would leave nothing in the cache.
flushCompileCache();
const signer = new KeyFileSigner(signingKeyFile(folder));
const store = openSqliteStore(database, migrations, signer);

for (;;) {
  const zone = await store.zoneHolding(name);
  if (zone === undefined) throw new Error(`there is no zone ${name}`);
  const { dnssec, ttl } = zone.settings;
  const by = { store, actor: "test", now: Date.now() };
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => [], ...by };
  process.stdout.write(`${dnssec === undefined ? "sign" : ttl === 60 ? "ttl" : "unsign"}\n`);
  if (dnssec === undefined) await signZone(by, zone, { algorithm: 13, denial: "nsec" }, signer);
  else if (ttl === 60)
    await writeTo(store, request, ({ zone: { settings } }) => ({
      ...{ wanted: undefined, result: undefined },
      settings: { ...settings, ttl: 120 },
    }));
  else {
    await unsignNow(by, zone);
    await writeTo(store, request, ({ zone: { settings } }) => ({
      ...{ wanted: undefined, result: undefined },
      settings: { ...settings, ttl: 60 },
    }));
  }
}
