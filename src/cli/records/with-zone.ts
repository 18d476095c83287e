import { resolve } from "node:path";
import { wholeAccount } from "../../core/may.ts";
import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { type Fault, fail, failAll, faultInWords, ok, type Result } from "../../core/result.ts";
import type { ZoneOutcome } from "../../records/commands/write.ts";
import type { Zone, ZoneKey, ZoneSigning } from "../../records/model.ts";
import type { Actor } from "../../records/queries/permitted-view.ts";
import { createRecordService, type RecordService } from "../../records/service.ts";
import type { Signer } from "../../records/signing/signer.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { faultText, refuseFaults } from "../io/print-faults.ts";
import { withStore } from "../store/with-store.ts";
import { readPublisher } from "./publisher.ts";

/** Runs `work` with the named zone, or says that there is no such zone. */
export async function withZone(
  typed: string,
  options: DatabaseOptions,
  io: CommandIo,
  work: (zone: Zone, open: OpenZone) => Promise<number>,
): Promise<number> {
  const name = parseTyped(parseZoneName, typed);
  if (!name.ok) return refuseFaults(name.faults, io);
  return await withStore(options, io, async (store, signer) => {
    const zone = await store.zoneHolding(name.value);
    if (zone?.name !== name.value)
      return refuse(1, `There is no zone ${typed}; create it first, in the console or through an API.`, io);
    const { nameservers } = await readPublisher(resolve(io.cwd, options.data));
    const service = createRecordService({
      store,
      signer,
      nameservers,
      now: Date.now,
      answerAfter: Number.POSITIVE_INFINITY,
    });
    return await work(zone, { store, signer, service });
  });
}

export type OpenZone = {
  readonly store: RecordStore;
  readonly signer: Signer;
  readonly service: RecordService;
};

/** Changes how a zone is signed, as the APIs do, in the name of the operator. */
export async function changeSigning(
  zone: Zone,
  change: (operator: Actor, at: ZoneKey) => Promise<ZoneOutcome>,
): Promise<Result<Zone>> {
  const { account, number } = zone;
  const changed = await change({ account, label: "operator", scope: wholeAccount }, { number });
  if (changed.kind === "done") return ok(changed.zone);
  return changed.kind === "refused" ? failAll(changed.faults) : fail(justDeleted(zone.name));
}

type Typed = { readonly typed: string; readonly options: DatabaseOptions; readonly io: CommandIo };

/** Changes a typed zone, and prints what has changed. */
export const changeAndSay = (
  { typed, options, io }: Typed,
  change: (service: RecordService, operator: Actor, at: ZoneKey) => Promise<ZoneOutcome>,
  say: (zone: Zone) => string,
): Promise<number> =>
  withZone(typed, options, io, async (zone, { service }) => {
    const done = await changeSigning(zone, (operator, at) => change(service, operator, at));
    if (!done.ok) return failed(done, io);
    io.out(say(done.value));
    return 0;
  });

export function signingIn({ name, settings: { dnssec } }: Zone): ZoneSigning {
  if (dnssec === undefined) throw new Error(`the zone ${name} is not signed`);
  return dnssec;
}

const justDeleted = (zone: string): Fault => ({
  code: "missing-zone",
  where: "zone",
  message: `the zone ${zone} has just been deleted`,
});

/** Prints why something was refused, and returns the exit code. A fault of the zone itself names it. */
export function failed(result: Result<unknown>, io: CommandIo): number {
  const faults = result.ok ? [] : result.faults;
  for (const fault of faults) io.err(`${fault.where === "zone" ? faultInWords(fault) : faultText(fault)}\n`);
  return 1;
}
