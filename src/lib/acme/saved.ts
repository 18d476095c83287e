import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { objectOfJson } from "../../core/is-object.ts";
import { readFileIfThere, replaceFile } from "../../process/data-folder.ts";
import { belongTogether } from "../tls/certificates.ts";
import type { Pair } from "../tls/issue-certificate.ts";
import type { Issued } from "./plan.ts";

/** Everything that is kept across restarts. It contains private keys. */
export type Saved = {
  /** PEM. */
  readonly accountKey?: string;
  readonly certificate?: Pair & { readonly directory: string; readonly names: readonly string[] };
  /** An unfinished order: it continues after a restart. */
  readonly order?: {
    readonly url: string;
    readonly directory: string;
    readonly names: readonly string[];
    /** The certificate's private key, PEM. */
    readonly key: string;
  };
  /** The authority asked for no requests until then; milliseconds since 1970. */
  readonly leaveAlone?: { readonly directory: string; readonly until: number };
};

/** One text, always replaced as a whole. Nodes on the same database share it. */
export type SavedText = {
  /** For messages. */
  readonly where: string;
  readonly read: () => Promise<string | undefined>;
  readonly write: (text: string) => Promise<void>;
};

export const savedInFile = (folder: string, name: string): SavedText => {
  const path = join(folder, name);
  return { where: path, read: () => readFileIfThere(path), write: (text) => replaceFile(path, text, 0o600) };
};

/** Throws if the text is damaged: silently creating a new account would hide a problem with the disk. */
export function parseSaved(text: string | undefined, where: string): Saved {
  if (text === undefined) return {};
  const read = objectOfJson(text);
  if (read) return read as Saved;
  throw new Error(
    `${where} is damaged: it holds the ACME account and certificate; restore it, or remove it to order a new certificate`,
  );
}

/** Undefined if certificate and key cannot be used: then a new certificate is ordered. */
export function issuedOf({ certificate }: Saved): Issued | undefined {
  if (certificate === undefined) return undefined;
  try {
    if (!belongTogether(certificate)) return undefined;
    const { validFromDate, validToDate } = new X509Certificate(certificate.cert);
    const { directory, names } = certificate;
    return { directory, names, validFrom: validFromDate, validTo: validToDate };
  } catch {
    return undefined;
  }
}
