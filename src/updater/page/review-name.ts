import type { FieldFault } from "../../contract/updater-page.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { type ManagedRecord, managedRecordsOf, sourcesOf } from "../round/managed-records.ts";
import type { AskTools } from "./ask-published.ts";

export type ReportedDevice = { readonly device: string; readonly isDown: boolean };

export type ReviewTools = {
  /** The devices that each source has reported. */
  readonly devices: () => ReadonlyMap<string, readonly ReportedDevice[]>;
  readonly published: AskTools["published"];
};

/** Milliseconds that a target may take. */
const patience = 5_000;

/**
 * What would fail as soon as the name is in the config, although the config is valid: an interface that its source does
 * not have, a zone that its target does not have, or a record that nobody creates. What is not known is no fault.
 */
export async function reviewName(
  config: UpdaterConfig,
  {
    name,
    zone,
    oldDevices,
  }: { readonly name: string; readonly zone: string; readonly oldDevices: ReadonlySet<string> },
  { devices, published }: ReviewTools,
): Promise<readonly FieldFault[]> {
  const records = managedRecordsOf(config).filter(({ spec }) => spec.name === name && spec.zone === zone);
  const signal = AbortSignal.timeout(patience);
  const ofTargets = await Promise.all(
    records.map(async (record) => {
      const publishedContent = await published(record, signal).catch(() => undefined);
      if (publishedContent?.kind !== "missing") return [];
      if (publishedContent.of === "zone")
        return [{ field: "zone", message: publishedContent.because, todo: publishedContent.todo }];
      return record.spec.create
        ? []
        : [{ field: "name", message: publishedContent.because, todo: publishedContent.todo }];
    }),
  );
  const faults = [...records.flatMap((record) => deviceFaults(record, devices(), oldDevices)), ...ofTargets.flat()];
  return [...new Map(faults.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()];
}

/** `oldDevices`: devices that the entry already had. One of them may be gone only for a while. */
function deviceFaults(
  record: ManagedRecord,
  reported: ReturnType<ReviewTools["devices"]>,
  oldDevices: ReadonlySet<string>,
): readonly FieldFault[] {
  return sourcesOf(record).flatMap(({ source, devices }) => {
    const there = reported.get(source) ?? [];
    const names = there.map(({ device }) => device);
    const missing =
      there.length === 0 ? [] : devices.filter((device) => !names.includes(device) && !oldDevices.has(device));
    const usable = there.filter(({ isDown, device }) => !isDown && device !== "lo").map(({ device }) => device);
    return missing.map((device) => ({
      field: record.family,
      message: `${source} reports no interface ${device}`,
      todo: `use one that it reports: ${usable.join(", ") || names.join(", ")}`,
    }));
  });
}
