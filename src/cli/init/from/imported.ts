import type { Family } from "../../../core/addresses/address.ts";
import type { Settings } from "../files.ts";

/** What the config of another program says, in the settings of moor. */
export type Imported = {
  /** Seconds between two checks, if the file sets them. */
  readonly period?: number | undefined;
  readonly onlyPublic: boolean;
  /** The APIs at which the program creates a record that does not exist. */
  readonly creates: (api: string) => boolean;
  readonly names: readonly ImportedName[];
};

export type ImportedName = {
  /** Absolute. */
  readonly host: string;
  /** If the file names it. */
  readonly zone?: string | undefined;
  readonly line: number;
  readonly target: ImportedPart;
  /** NaN if the file does not set it. */
  readonly ttl: number;
  readonly origins: Readonly<Partial<Record<Family, ImportedSource>>>;
  /** The file does not say which records the name has, so none is created. */
  readonly areFamiliesAssumed?: boolean;
};

/**
 * An entry of `sources:` or `targets:` without its name. Texts of `secrets`, `placeholders` and `files` are written to
 * files.
 */
export type ImportedPart = {
  readonly kind: string;
  readonly settings: Settings;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Secrets under `secrets:`, by the names of their placeholders. */
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
};

/** Where the address of one record comes from. `more`: other settings of `ipv4:` or `ipv6:`. */
export type ImportedSource = { readonly source: ImportedPart; readonly device?: string; readonly more?: Settings };

/** What the user must know about the import: what is missing in the new config, and what was not in the old file. */
export type Notes = {
  readonly lost: (line: number, text: string) => void;
  readonly assumed: (line: number, text: string) => void;
};

export type Note = { readonly line: number; readonly text: string };

export type KeptNotes = Notes & { readonly all: { readonly lost: readonly Note[]; readonly assumed: readonly Note[] } };

/** Each note once, in the order of the lines. */
export function createNotes(): KeptNotes {
  const all: { lost: Note[]; assumed: Note[] } = { lost: [], assumed: [] };
  const add = (kind: keyof typeof all) => (line: number, text: string) => {
    if (all[kind].some((note) => note.line === line && note.text === text)) return;
    all[kind] = [...all[kind], { line, text }].toSorted((a, b) => a.line - b.line);
  };
  return { lost: add("lost"), assumed: add("assumed"), all };
}

export const part = (
  kind: string,
  settings: Settings = {},
  secrets: Readonly<Record<string, string>> = {},
): ImportedPart => ({
  kind,
  settings,
  secrets,
});
