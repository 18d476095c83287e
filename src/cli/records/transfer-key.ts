import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Instant } from "../../core/instant.ts";
import type { Scope } from "../../core/may.ts";
import { parseName } from "../../core/names/name.ts";
import { overQuotaText, type Quotas } from "../../core/quotas.ts";
import { readFileIfThere } from "../../process/data-folder.ts";
import type { NewTransferKey, TransferKey } from "../../records/model.ts";
import { type CommandIo, noneToRevoke, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import type { NewOption } from "../io/options.ts";
import { faultText } from "../io/print-faults.ts";
import { minute, printList } from "../io/print-table.ts";
import { placeOf, writeSecretOr } from "../io/write-secret.ts";
import { sameStore } from "../store/read-store-place.ts";
import { withServiceStore, withStore } from "../store/with-store.ts";
import { reachInWords, readTokenScope, type TypedScope } from "./token-scope.ts";

export type TransferKeyAdd = DatabaseOptions &
  NewOption &
  Omit<TypedScope, "readOnly"> & {
    readonly algorithm: NewTransferKey["algorithm"];
    readonly account?: string;
    readonly update?: boolean;
    readonly secretFile?: string;
    readonly format: Format;
    readonly quota: Quotas;
    readonly to?: string;
  };

export async function transferKeyAdd(text: string, options: TransferKeyAdd, io: CommandIo): Promise<number> {
  const parsed = parseName(text);
  if (!parsed.ok || parsed.value === "") {
    io.err(
      "The name of a key must look like a host name, such as ns2.example.org; use the same name on both servers.\n",
    );
    return 2;
  }
  const name = parsed.value;
  const scope = readScope(options, Date.now());
  const secret = await secretFor(options, io);
  if (typeof scope === "string") return refuse(2, scope, io);
  if ("fault" in secret) return refuse(2, secret.fault, io);
  const place = placeOf(options, io);
  if (place === "taken") return 2;
  const made = await withServiceStore(options, io, async (store) => {
    const created = Date.now();
    const account = options.account === undefined ? undefined : await store.ensureAccount(options.account, created);
    const key = { name, algorithm: options.algorithm, secret: secret.base64, account: account?.id, scope, created };
    const added = await store.addTransferKey(key, options.quota["transfer-keys"]);
    if (typeof added !== "string" && place !== undefined) {
      await writeSecretOr(() => store.revokeTransferKey(name, Date.now()), place, formats[options.format](added));
    }
    return added;
  });
  if (made === "too-many") return refuse(1, overQuotaText("transfer-keys", options.quota["transfer-keys"]), io);
  if (made === "name-taken") {
    io.err(
      `Key ${name} already exists; revoke it first with: ${io.program} transfer-key revoke ${await sameStore(options, io)} ${name}\n`,
    );
    return 1;
  }
  io.err(`Key ${name}: may ${inWords(made)}.\n`);
  io.err(place === undefined ? "This is the only time its secret is shown:\n" : `Written to ${options.to}\n`);
  if (place === undefined) io.out(formats[options.format](made));
  return 0;
}

export async function transferKeyList(
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  const keys = await withStore(options, io, (store) => store.transferKeys());
  const none = `There are no keys yet; create one with: ${io.program} transfer-key add ${await sameStore(options, io)} NAME`;
  const heads = ["name", "algorithm", "account", "may", "created", "state"];
  const list = { json: options.json, forPrograms: keys.map(forPrograms), heads, rows: keys.map(row), none };
  return printList(list, io);
}

export async function transferKeyRevoke(text: string, options: DatabaseOptions, io: CommandIo): Promise<number> {
  const name = parseName(text);
  const revoked = name.ok && (await withStore(options, io, (store) => store.revokeTransferKey(name.value, Date.now())));
  if (!revoked) return noneToRevoke("key", text, `transfer-key list ${await sameStore(options, io)}`, io);
  io.out(`Revoked key ${name.value}.\n`);
  return 0;
}

/** As long as the hash of the algorithm (RFC 8945 section 6). */
const secretBytes = { "hmac-sha256": 32, "hmac-sha512": 64 } as const;

async function secretFor(
  { secretFile, algorithm }: TransferKeyAdd,
  io: CommandIo,
): Promise<{ readonly base64: string } | { readonly fault: string }> {
  if (secretFile === undefined) return { base64: randomBytes(secretBytes[algorithm]).toString("base64") };
  const text = (await readFileIfThere(resolve(io.cwd, secretFile)))?.trim();
  if (text === undefined) return { fault: `there is no file ${secretFile}; correct the path in --secret-file` };
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text || bytes.length < 16) {
    return { fault: `${secretFile} must contain a secret in base64, of 16 bytes or more` };
  }
  return { base64: text };
}

type Format = "bind" | "knot" | "nsd" | "powerdns";

/** In the format of each server's config; PowerDNS reads it from the command line. */
const formats: Readonly<Record<Format, (key: NewTransferKey) => string>> = {
  bind: ({ name, algorithm, secret }) => `key "${name}" {\n  algorithm ${algorithm};\n  secret "${secret}";\n};\n`,
  knot: ({ name, algorithm, secret }) => `key:\n  - id: ${name}\n    algorithm: ${algorithm}\n    secret: ${secret}\n`,
  nsd: ({ name, algorithm, secret }) => `key:\n  name: "${name}"\n  algorithm: ${algorithm}\n  secret: "${secret}"\n`,
  powerdns: ({ name, algorithm, secret }) => `pdnsutil import-tsig-key ${name} ${algorithm} '${secret}'\n`,
};

function readScope({ update, ...typed }: TransferKeyAdd, now: Instant): Scope | string {
  const scope = readTokenScope({ ...typed, readOnly: !update }, now);
  if (!scope.ok) return scope.faults.map(faultText).join("\n");
  // A transfer sends a whole zone, so a key that is limited to sets is useless without updates.
  if (scope.value.sets !== undefined && !update) return "--set and --type limit updates; add --update";
  return scope.value;
}

/** A key that is limited to sets may not transfer a zone: that would disclose the other sets. */
const inWords = ({ scope, accountName }: TransferKey): string => {
  const verb = scope.sets !== undefined ? "update" : scope.access === "write" ? "transfer and update" : "transfer";
  return `${verb} ${reachInWords(scope, accountName === undefined ? "every zone" : `every zone of ${accountName}`)}`;
};

const row = (key: TransferKey): readonly string[] => [
  key.name,
  key.algorithm,
  key.accountName ?? "all",
  inWords(key),
  minute(key.created),
  key.revoked === undefined ? "valid" : "revoked",
];

const forPrograms = ({ name, algorithm, accountName, scope, created, revoked }: TransferKey) => ({
  name,
  algorithm,
  account: accountName ?? null,
  scope,
  created: new Date(created).toISOString(),
  revoked: revoked === undefined ? null : new Date(revoked).toISOString(),
});
