import { createHash } from "node:crypto";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { EditableNames, FieldFault, NamesEdit, NamesPreview } from "../../contract/updater-page.ts";
import { recordTypeOf } from "../../core/addresses/address.ts";
import { absoluteName } from "../../core/names/name.ts";
import type { Fault, Result } from "../../core/result.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { editNames, type NamesChange } from "../config/edit-names.ts";
import { type ManagedRecord, managedRecordsOf, sourcesOf } from "../round/managed-records.ts";
import { sourceKinds, sourceNames } from "../sources/sources.ts";
import { targetKinds, targetNames } from "../targets/targets.ts";
import type { AskTools } from "./ask-published.ts";
import { type NotWritten, readConfigFile, whyNotWritable, writeConfigFile } from "./config-file.ts";
import { lineDiff } from "./line-diff.ts";
import { changesBetween, fieldsOf, otherSettings } from "./name-fields.ts";

export type ChangeTools = ReviewTools & {
  readonly config: UpdaterConfig;
  /** Checks a text as if it were in the config file. */
  readonly checkText: (text: string) => Result<UpdaterConfig>;
  /** Uses the file as it is now. */
  readonly adopt: () => void;
};

export type NamesOutcome =
  | { readonly kind: "preview"; readonly preview: NamesPreview }
  | { readonly kind: "written" }
  | NotWritten;

/** Changes `names:` in the config file, in two steps: a preview with the checks of a start, and the write. */
export function createNamesChanger({ config, devices, published, checkText, adopt }: ChangeTools) {
  const { file } = config;
  const prepare = async (namesEdit: NamesEdit) => {
    const because = await whyNotWritable(file);
    if (because !== undefined) return { kind: "impossible", because } as const;
    const text = await readConfigFile(file);
    if (versionOf(text) !== namesEdit.version) return { kind: "outdated" } as const;
    const change = changeOf(namesEdit, entriesIn(text));
    const edited = change && editNames(text, change.change);
    if (change === undefined || edited === undefined) return { kind: "impossible", because: unusual(file) } as const;
    const checked = checkText(edited);
    const wrong = faultsIn(edited, change.index, checked, file);
    const reviewInput = wrong.length === 0 && checked.ok ? reviewedIn(namesEdit, entriesIn(text)) : undefined;
    const faults =
      checked.ok && reviewInput ? await reviewName(checked.value, reviewInput, { devices, published }) : wrong;
    return {
      kind: "edited",
      text,
      edited,
      preview: { diff: lineDiff(text, edited, namesLines(edited)), faults },
    } as const;
  };
  return {
    async list(): Promise<EditableNames> {
      const cannot = await whyNotWritable(file);
      // If it cannot be read, it cannot be written for the same reason.
      const text = await readConfigFile(file).catch(() => "");
      return {
        file,
        version: versionOf(text),
        cannot,
        entries: entriesIn(text).map(shownEntry),
        sources: [...config.sources.values()].map(({ name, kind }) => ({
          name,
          called: sourceNames[kind] ?? kind,
          isOne: sourceKinds[kind]?.only !== undefined,
          devices: usable(devices().get(name) ?? []),
        })),
        targets: [...config.targets.values()].map(({ name, api }) => {
          const { create = true, ttl = true } = targetKinds[api]?.can ?? {};
          return { name, called: targetNames[api] ?? api, create, ttl };
        }),
      };
    },
    async preview(namesEdit: NamesEdit): Promise<NamesOutcome> {
      const prepared = await prepare(namesEdit);
      return prepared.kind === "edited" ? { kind: "preview", preview: prepared.preview } : prepared;
    },
    async write(namesEdit: NamesEdit): Promise<NamesOutcome> {
      const prepared = await prepare(namesEdit);
      if (prepared.kind !== "edited") return prepared;
      if (prepared.preview.faults.length > 0) return { kind: "preview", preview: prepared.preview };
      const written = await writeConfigFile(file, prepared.text, prepared.edited);
      if (written !== undefined) return written;
      adopt();
      return { kind: "written" };
    },
  };
}

const versionOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

const unusual = (file: string): string =>
  `This page cannot change the file without touching other parts of it, because of the way it is written. Edit ${file} yourself; the updater uses the change immediately.`;

type NameEntry = Readonly<Record<string, unknown>>;

function entriesIn(text: string): readonly NameEntry[] {
  try {
    const { names } = (parseDocument(text).toJS() ?? {}) as { readonly names?: unknown };
    return Array.isArray(names) ? names.map((entry) => (entry ?? {}) as NameEntry) : [];
  } catch {
    // An alias without its anchor: the checks say so.
    return [];
  }
}

function shownEntry(entry: NameEntry): EditableNames["entries"][number] {
  const fields = fieldsOf(entry);
  const title = absoluteName(fields.name, fields.zone);
  const families = (["ipv4", "ipv6"] as const).filter((family) => fields[family].isOn);
  const records = families.map((family) => `${title} ${recordTypeOf(family)}`);
  return { title, records, fields, others: otherSettings(entry) };
}

function changeOf(
  namesEdit: NamesEdit,
  entries: readonly NameEntry[],
): { change: NamesChange; index: number } | undefined {
  if (namesEdit.kind === "add")
    return { change: { kind: "add", settings: changesBetween({}, namesEdit.fields) }, index: entries.length };
  const { index } = namesEdit;
  const entry = entries[index];
  if (entry === undefined) return undefined;
  if (namesEdit.kind === "remove") return { change: { kind: "remove", index }, index: -1 };
  const fields = namesEdit.kind === "edit" ? namesEdit.fields : { ...fieldsOf(entry), paused: namesEdit.paused };
  return { change: { kind: "set", index, settings: changesBetween(entry, fields) }, index };
}

/** Proposed, best first: not the loopback interface, and nothing that is down. */
const usable = (devices: readonly ReportedDevice[]): readonly string[] =>
  devices.filter(({ device, isDown }) => !isDown && device !== "lo").map(({ device }) => device);

/** What is asked about before it is written. */
function reviewedIn(namesEdit: NamesEdit, entries: readonly NameEntry[]): Parameters<typeof reviewName>[1] | undefined {
  if (namesEdit.kind !== "add" && namesEdit.kind !== "edit") return undefined;
  const before = namesEdit.kind === "edit" ? fieldsOf(entries[namesEdit.index] ?? {}) : undefined;
  const deviceNames = [before?.ipv4, before?.ipv6].flatMap((field) => field?.devices.split(/[\s,]+/) ?? []);
  const { name, zone } = namesEdit.fields;
  return { name: name.trim().toLowerCase(), zone: zone.trim().toLowerCase(), oldDevices: new Set(deviceNames) };
}

/** The first and the last line of `names:`: a diff must show nothing else, because a web hook's URL is a secret. */
function namesLines(text: string): readonly [number, number] {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines });
  const pair = isMap(contents) && contents.items.find(({ key }) => isScalar(key) && key.value === "names");
  if (!pair || !isNode(pair.key) || !isNode(pair.value)) return [0, 0];
  const from = pair.key.range?.[0] ?? 0;
  const to = pair.value.range?.[1] ?? 0;
  return [lines.linePos(from).line, lines.linePos(Math.max(from, to - 1)).line];
}

function faultsIn(text: string, index: number, checked: Result<UpdaterConfig>, file: string): readonly FieldFault[] {
  if (checked.ok && checked.value.names.length > 0) return [];
  if (checked.ok) return [{ line: 1, message: "this is the last name", todo: `pause it instead, or stop the updater` }];
  const fieldAt = fieldsAt(text, index);
  return checked.faults.map(({ where, message, todo }: Fault) => {
    const [line = 1, column = 1] = where.split(":").slice(-2).map(Number);
    const field = fieldAt(line, column);
    return { field, line, message, todo: todo ?? `correct it in ${file}` };
  });
}

/** The setting of the entry at that place. */
function fieldsAt(text: string, index: number): (line: number, column: number) => string | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const names: unknown = document.get("names");
  const entry: unknown = isSeq(names) ? names.items[index] : undefined;
  return (line, column) => {
    const at = (lines.lineStarts[line - 1] ?? 0) + column - 1;
    const pair = isMap(entry)
      ? entry.items.find(({ key, value }) => {
          const [start, end] = [isNode(key) ? key.range?.[0] : undefined, isNode(value) ? value.range?.[1] : undefined];
          return start !== undefined && at >= start && at <= (end ?? start) && at !== entry.range?.[0];
        })
      : undefined;
    return isScalar(pair?.key) ? String(pair.key.value) : undefined;
  };
}

type ReportedDevice = { readonly device: string; readonly isDown: boolean };

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
async function reviewName(
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
