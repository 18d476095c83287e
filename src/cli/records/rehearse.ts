import { algorithmChoices, algorithms } from "../../core/dnssec/codes.ts";
import { readZone } from "../../records/queries/read-zone.ts";
import { stageWords } from "../../records/signing/signing-texts.ts";
import { longestTtl, type Moment, rehearse, sinceText } from "../../serving/rehearsal/rehearse.ts";
import type { ResolverName } from "../../serving/rehearsal/resolver.ts";
import type { CommandIo } from "../io/command-io.ts";
import { refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { printTable } from "../io/print-table.ts";
import { withZone } from "./with-zone.ts";

export type DnssecRehearse = DatabaseOptions & {
  readonly algorithm?: string;
  readonly nsec3?: boolean;
  readonly resolver?: string;
};

/** Every stage signs the copy again, so only part of a large zone is used. */
const mostSets = 1_000;

export const dnssecRehearse = (typed: string, options: DnssecRehearse, io: CommandIo): Promise<number> =>
  withZone(typed, options, io, async (zone, { store }) => {
    if (zone.settings.mode !== "primary")
      return refuse(1, `The records of ${zone.name} come from another server; the zone is signed there.`, io);
    const { dnssec } = zone.settings;
    const all = await readZone(store, zone);
    const sets = [...all].sort((a, b) => Number(b.owner === "@") - Number(a.owner === "@")).slice(0, mostSets);
    if (sets.length < all.length) io.out(`Using ${sets.length} of ${all.length} record sets.\n`);
    if (sets.some(({ ttl }) => (ttl ?? zone.settings.ttl) > longestTtl))
      io.out("TTLs above one day count as one day.\n");
    const outcome = await rehearse({
      zone,
      sets,
      path: io.env.PATH ?? "",
      signal: io.signal,
      algorithm: algorithmChoices[options.algorithm ?? ""] ?? dnssec?.keys[0]?.algorithm ?? algorithms.ecdsap256,
      denial: options.nsec3 ? "nsec3" : (dnssec?.denial ?? "nsec"),
      resolvers: resolversFor(options.resolver),
      onStart: (resolver) => io.out(introduction(zone.name, resolver)),
      onMoment: (moment) => io.out(line(moment)),
    });
    if (!outcome.ok) {
      printFaults(outcome.faults, io);
      return 1;
    }
    io.out(`\n${printTable(["stage", "meaning"], Object.entries(stageWords))}`);
    const { took, asked, secure, failed, checked, bogus, examples } = outcome.value;
    io.out(
      `\nSimulated ${sinceText(took)}: ${asked} answers from the resolver, ${secure} of them secure; ${checked} combinations of cached answers checked.\n`,
    );
    if (bogus === 0) io.out("No answer was bogus at any time.\n");
    else io.out(`Bogus answers: ${bogus}. The first of them:\n${examples.map((each) => `  ${each}\n`).join("")}`);
    if (failed > 0) io.out(`Queries that failed (SERVFAIL) for other reasons: ${failed}.\n`);
    return bogus === 0 && failed === 0 ? 0 : 1;
  });

const resolversFor = (choice: string | undefined): readonly ResolverName[] =>
  choice === "none" ? [] : choice === "unbound" || choice === "delv" ? [choice] : ["unbound", "delv"];

const introduction = (zone: string, resolver: ResolverName | undefined): string =>
  `A copy of ${zone} is signed, gets a new key, then another algorithm, and is unsigned. Your zone is only read.\n` +
  "Time is simulated, but every signature is also valid by the real clock, which resolvers use.\n" +
  "moor checks every combination of answers that caches can hold.\n" +
  (resolver === undefined
    ? "No resolver is queried: --resolver none was given, or none is installed (unbound or delv; one is enough).\n"
    : `${resolver} is queried too${resolver === "unbound" ? ", continuously, with several queries at a time" : ""}; its cache is emptied after each change.\n`) +
  `\n${columns("time", "stage", "keys", "DS at the parent", "asked", "bogus")}`;

const line = ({ at, stage, keys, ds, asked, bogus }: Moment): string =>
  columns(
    sinceText(at),
    stage,
    keys.map(({ tag, algorithm }) => `${tag}/${algorithm}`).join(" ") || "-",
    ds.join(" ") || "-",
    `${asked}`,
    `${bogus}`,
  );

const widths = [10, 17, 19, 17, 7, 0];
const columns = (...cells: readonly string[]): string =>
  `${cells
    .map((cell, i) => cell.padEnd(widths[i] ?? 0))
    .join("")
    .trimEnd()}\n`;
