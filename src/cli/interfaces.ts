import { families } from "../core/address.ts";
import { chooseAddress } from "../core/choose-address.ts";
import type { InterfaceReport } from "../core/interface-report.ts";
import { refusalWords } from "../updater/describe-round.ts";
import { openSource } from "../updater/sources.ts";
import type { CommandIo } from "./command-io.ts";
import { loadConfig, pickOne } from "./load-config.ts";
import { printTable } from "./print-table.ts";

export type InterfacesOptions = {
  readonly config?: string | undefined;
  readonly source?: string | undefined;
  readonly json?: boolean | undefined;
};

/** `moor interfaces`: every address a firewall reports, the one that would be taken, and why each other would not. */
export async function interfaces(options: InterfacesOptions, io: CommandIo): Promise<number> {
  const config = loadConfig(options.config, io);
  const chosen = config && pickOne("source", config.sources, options.source, { file: config.file, io });
  if (!config || !chosen) return 2;
  for (const warning of config.warnings) io.err(`warning: ${warning}\n`);
  const source = await openSource(chosen);
  try {
    const reading = await source.read(io.signal);
    if (reading.kind === "unavailable") {
      io.err(`${reading.because}; ${reading.todo}\n`);
      return 1;
    }
    const rows = rowsOf(reading.report);
    io.out(options.json ? `${JSON.stringify(rows, undefined, 2)}\n` : printRows(rows));
    return 0;
  } finally {
    source.close();
  }
}

type Row = {
  readonly interface: string;
  readonly up?: boolean;
  readonly addresses: readonly { readonly family: string; readonly address: string; readonly verdict: string }[];
};

function rowsOf(report: InterfaceReport): readonly Row[] {
  return [...report.values()].map(({ device, up }) => ({
    interface: device,
    ...(up === undefined ? {} : { up }),
    addresses: families.flatMap((family) =>
      chooseAddress(report, { device, family }).considered.map(({ text, verdict }) => ({
        family,
        address: text,
        verdict,
      })),
    ),
  }));
}

function printRows(rows: readonly Row[]): string {
  if (rows.length === 0) return "the firewall reports no interface at all\n";
  const lines = rows.flatMap(({ interface: device, up, addresses }) => {
    const state = up === undefined ? "" : up ? "up" : "down";
    if (addresses.length === 0) return [[device, state, "none", "", ""]];
    return addresses.map(({ address, family, verdict }) => [
      device,
      state,
      address,
      family === "ipv4" ? "A" : "AAAA",
      verdict === "taken" ? "would be taken" : `no: ${refusalWords[verdict as keyof typeof refusalWords]}`,
    ]);
  });
  return printTable(["INTERFACE", "STATE", "ADDRESS", "TYPE", "CHOICE"], lines);
}
