import { flushCompileCache } from "node:module";
import { noLog } from "../../src/process/log.ts";
import { joinNodes } from "../../src/records/node-membership.ts";
import { KeyFileSigner } from "../../src/records/signing/signer.ts";
import { openPostgresStore } from "../../src/records/store/postgres/store.ts";
import { addressOf } from "../rig/records/postgres.ts";

/**
 * A node that signs what was written to a PostgreSQL database while it leads, and says when it begins and ends to lead.
 * `node test/nodes/following-node.ts DATABASE KEYFILE`; started with an IPC channel.
 */
const [, , database = "", keyFile = ""] = process.argv;
// It is killed, and would leave nothing in the cache.
flushCompileCache();

export type Leads = { readonly leads: boolean };

const tell = (leads: boolean) => void process.send?.({ leads } satisfies Leads);

const signer = new KeyFileSigner(keyFile);
const { connect, signChanges } = await openPostgresStore({ address: addressOf(database), log: noLog, signer });
const { duties } = joinNodes({ connect, log: noLog });
const { lookForMore } = signChanges(duties.isLeading);
duties.whenLeading(() => {
  lookForMore();
  tell(true);
  return () => tell(false);
});
