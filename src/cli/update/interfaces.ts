import { type Family, families } from "../../core/addresses/address.ts";
import { type Considered, chooseAddress } from "../../core/addresses/choose-address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import type { SourceConfig } from "../../updater/config/kinds.ts";
import { describeChoice, refusalWords } from "../../updater/report/describe-round.ts";
import { type ManagedRecord, managedRecordsOf, sourcesOf } from "../../updater/round/managed-records.ts";
import { NameMemory } from "../../updater/round/name-memory.ts";
import { type PlannedUpdate, planRound, storedAddressesOf } from "../../updater/round/plan.ts";
import { openStateFile, type StateFile } from "../../updater/round/state-file.ts";
import { abilitiesInWords, type SourceReading } from "../../updater/sources/source.ts";
import { abilitiesOf, kindLabelOf, openSource } from "../../updater/sources/sources.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { loadConfigInUse, pickOne } from "./load-config.ts";

export type InterfacesOptions = {
  readonly config?: string | undefined;
  readonly source?: string | undefined;
  readonly json?: boolean | undefined;
};

/**
 * `moor interfaces`: every address that a source reports, the ones that would be used, and why the others would not.
 */
export async function interfaces(options: InterfacesOptions, io: CommandIo): Promise<number> {
  const config = loadConfigInUse(options.config, io);
  const chosen = config && pickOne("source", config.sources, options.source, { file: config.file, io });
  if (!config || !chosen) return 2;
  for (const warning of config.warnings) io.err(`warning: ${warning}\n`);
  const source = await openSource(chosen);
  try {
    const reading = await source.read(io.signal);
    if (reading.kind === "unavailable") return refuse(1, `${reading.because}; ${reading.todo}`, io);
    const { gatewayFault } = reading;
    if (gatewayFault) io.err(`warning: ${gatewayFault.because}; ${gatewayFault.todo}\n`);
    const records = managedRecordsOf(config).flatMap((record) => onlyFrom(record, chosen.name));
    const state = await storedBefore(config, io);
    const planned = planFor(records, reading, state);
    const rows = rowsOf(reading.report, planned, state);
    io.out(options.json ? `${JSON.stringify(rows, undefined, 2)}\n` : printRows(rows, kindLabelOf(chosen)));

    const choices = planned.map((update) => ({ title: update.record.displayName, ...describeChoice(update) }));
    for (const { title, kind, because } of choices) {
      if (kind === "failed") io.err(`${title}: ${because}\n`);
      else if (!options.json) io.out(`${title}: ${because}\n`);
    }
    if (!options.json) io.out(describeSource(chosen));
    return choices.some(({ kind }) => kind === "failed") ? 1 : 0;
  } finally {
    source.close();
  }
}

/** As if the name had no other source. */
function onlyFrom(record: ManagedRecord, wanted: string): readonly ManagedRecord[] {
  const { furtherSources: _, agree: __, ...rest } = record;
  return sourcesOf(record)
    .filter(({ source }) => source === wanted)
    .map(({ devices, ...origin }) => ({ ...rest, ...origin, policy: { ...record.policy, devices } }));
}

function describeSource(source: SourceConfig): string {
  const can = abilitiesOf(source);
  return can ? `${source.name} (${source.kind}) ${abilitiesInWords(can)}\n` : "";
}

type Stored = Pick<StateFile, "get">;

/**
 * A published address is preferred to others that are no better. The records are not read here, so every stored address
 * is in doubt.
 */
async function storedBefore({ stateFile }: UpdaterConfig, io: CommandIo): Promise<Stored> {
  const opened = await openStateFile(stateFile, Date.now(), { write: false });
  if (opened.kind === "unusable") {
    io.err(`warning: ${opened.because}; ${opened.todo}\n`);
    return { get: () => undefined };
  }
  return {
    get(key) {
      const kept = opened.state.get(key);
      return kept && { ...kept, inDoubt: true };
    },
  };
}

const planFor = (records: readonly ManagedRecord[], reading: SourceReading, state: Stored): readonly PlannedUpdate[] =>
  planRound(records, {
    readings: new Map(records.map(({ source }) => [source, reading])),
    state,
    memory: new NameMemory(),
    notBefore: () => undefined,
    now: Date.now(),
  });

type Row = {
  readonly interface: string;
  readonly up?: boolean | undefined;
  readonly addresses: readonly { readonly family: Family; readonly address: string; readonly verdict: Verdict }[];
};

type Verdict = Considered["verdict"] | "not-asked-for" | "spare";

function rowsOf(report: InterfaceReport, planned: readonly PlannedUpdate[], state: Stored): readonly Row[] {
  return [...report.values()].map(({ device, up }) => ({
    interface: device,
    up,
    addresses: families.flatMap((family) =>
      considered(report, { device, family }, planned, state).map(({ text, verdict }) => ({
        family,
        address: text,
        verdict,
      })),
    ),
  }));
}

/** By the rules of the first name that uses the device; without one, by the default rules. */
function considered(
  report: InterfaceReport,
  { device, family }: { readonly device: string; readonly family: Family },
  planned: readonly PlannedUpdate[],
  state: Stored,
): readonly { readonly text: string; readonly verdict: Verdict }[] {
  const ofFamily = planned.filter(({ record }) => record.family === family);
  const first = ofFamily.find(({ record }) => record.policy.devices.includes(device))?.record;
  const alike = ofFamily.map(({ record }) => record).filter(({ choiceKey }) => choiceKey === first?.choiceKey);
  const policy = { ...first?.policy, device, family, previousAddresses: storedAddressesOf(alike, state) };
  const considered = chooseAddress(report, policy).considered;
  const isTaken =
    planned.length === 0 || ofFamily.some((update) => update.device === device && "address" in update.plan);
  if (isTaken) return considered;
  const unused = first ? "spare" : "not-asked-for";
  return considered.map(({ text, verdict }) => ({ text, verdict: verdict === "taken" ? unused : verdict }));
}

function printRows(rows: readonly Row[], called: string): string {
  if (rows.length === 0) return `the ${called} reports no interfaces\n`;
  const lines = rows.flatMap(({ interface: device, up, addresses }) => {
    const state = up === undefined ? "" : up ? "up" : "down";
    if (addresses.length === 0) return [[device, state, "none", "", ""]];
    return addresses.map(({ address, family, verdict }) => [
      device,
      state,
      address,
      family === "ipv4" ? "A" : "AAAA",
      verdictWords(verdict),
    ]);
  });
  return printTable(["INTERFACE", "STATE", "ADDRESS", "TYPE", "CHOICE"], lines);
}

function verdictWords(verdict: Verdict): string {
  if (verdict === "taken") return "would be used";
  if (verdict === "not-asked-for") return "usable, but no name in the config uses it";
  if (verdict === "spare") return "usable, but its name uses another interface";
  return `no: ${refusalWords[verdict]}`;
}
