import { flushCompileCache } from "node:module";
import { createAskParent } from "../../src/lib/dns/delegation.ts";
import { noLog } from "../../src/process/log.ts";
import { joinNodes } from "../../src/records/node-membership.ts";
import { openStore } from "../../src/records/open-store.ts";
import { createSigningRound } from "../../src/records/signing/lifecycle/keep-signed.ts";
import { addressOf } from "../rig/records/postgres.ts";

/**
 * A node that keeps the zones of a PostgreSQL database signed while it leads, by a clock that its parent process sets.
 * `node test/nodes/signing-node.ts DATABASE KEYFILE DNSPORT`; started with an IPC channel.
 */
const [, , database = "", keyFile = "", port = ""] = process.argv;
// It is killed, and would leave nothing in the cache.
flushCompileCache();

/** The request: do your duties at this time. */
export type Step = { readonly now: number };
/** When it worked, by the clock of the machine; undefined if it does not lead. */
export type Stepped = { readonly worked: readonly [began: number, ended: number] | undefined };

const { store, connect, signChanges } = await openStore(
  { kind: "postgres", address: addressOf(database), keyFile },
  noLog,
);
const { duties } = joinNodes({ connect, log: noLog });
const { lookForMore } = signChanges(duties.isLeading);
let now = 0;
const askParent = createAskParent([{ host: "127.0.0.1", port: Number(port), key: undefined }]);
const round = createSigningRound({ store, askParent, now: () => now, log: noLog });
let lead: AbortController | undefined;
duties.whenLeading(() => {
  const leading = new AbortController();
  lead = leading;
  lookForMore();
  return () => {
    leading.abort();
    lead = undefined;
  };
});

const step = async (asked: Step): Promise<Stepped> => {
  now = asked.now;
  if (lead === undefined) return { worked: undefined };
  const began = Date.now();
  await round(lead.signal);
  return { worked: [began, Date.now()] };
};
process.on("message", (asked: Step) => void step(asked).then((stepped) => process.send?.(stepped)));
process.send?.({ worked: undefined } satisfies Stepped);
