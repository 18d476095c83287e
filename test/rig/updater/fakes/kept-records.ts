import { printLine, readLine } from "../set-lines.ts";

/** What a fake keeps: single records, or one set per name and type made of them. */
export type KeptRecord = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  ttl: number;
  value: string;
  /** Other data of the service that must not be lost: flags, comments. */
  extra: Record<string, unknown>;
};

export type KeptRecords = {
  readonly all: KeptRecord[];
  readonly of: (name: string, type: string) => readonly KeptRecord[];
  readonly add: (record: Omit<KeptRecord, "id" | "extra"> & { extra?: Record<string, unknown> }) => KeptRecord;
  /** Replaces a set, as services do that know only sets. */
  readonly put: (set: { name: string; type: string; ttl: number; values: readonly string[] }) => void;
  readonly fill: (lines: readonly string[]) => void;
  readonly held: () => readonly string[];
};

export function keepRecords(): KeptRecords {
  const all: KeptRecord[] = [];
  let last = 0;
  const of = (name: string, type: string) => all.filter((record) => record.name === name && record.type === type);
  const add: KeptRecords["add"] = ({ extra = {}, ...record }) => {
    last += 1;
    const made = { id: last.toString(16).padStart(32, "0"), extra, ...record };
    all.push(made);
    return made;
  };
  const drop = (gone: readonly KeptRecord[]) => {
    for (const record of gone) all.splice(all.indexOf(record), 1);
  };
  return {
    ...{ all, of, add },
    put({ name, type, ttl, values }) {
      drop(of(name, type));
      for (const value of values) add({ name, type, ttl, value });
    },
    fill(lines) {
      all.length = 0;
      for (const line of lines) add(readLine(line));
    },
    held: () => all.map(printLine).toSorted(),
  };
}
