import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { faultInWords, type Result } from "../../core/result.ts";
import type { Zone } from "../../records/model.ts";
import type { SigningWriter } from "../../records/signing/life/dnssec.ts";
import type { Signer } from "../../records/signing/signer.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { faultText, printFaults } from "../io/print-faults.ts";
import { withStore } from "../store/with-store.ts";

/** Runs `work` with the named zone, or says that there is no such zone. */
export async function withZone(
  typed: string,
  options: DatabaseOptions,
  io: CommandIo,
  work: (zone: Zone, by: SigningWriter, signer: Signer) => Promise<number>,
): Promise<number> {
  const name = parseTyped(parseZoneName, typed);
  if (!name.ok) {
    printFaults(name.faults, io);
    return 2;
  }
  return await withStore(options, io, async (store, signer) => {
    const zone = await store.zoneHolding(name.value);
    if (zone?.name !== name.value)
      return refuse(1, `There is no zone ${typed}; create it first, in the console or through an API.`, io);
    return await work(zone, { store, actor: "operator", now: Date.now() }, signer);
  });
}

/** Prints why something was refused, and returns the exit code. A fault of the zone itself names it. */
export function failed(result: Result<unknown>, io: CommandIo): number {
  const faults = result.ok ? [] : result.faults;
  for (const fault of faults) io.err(`${fault.where === "zone" ? faultInWords(fault) : faultText(fault)}\n`);
  return 1;
}
