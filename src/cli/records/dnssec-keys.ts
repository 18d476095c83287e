import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import { asNewFile, readFileIfThere, replaceFile } from "../../process/data-folder.ts";
import type { Zone } from "../../records/model.ts";
import { type PublicKey, readDnskeys } from "../../records/signing/multi-signer-keys.ts";
import { printKeyState, printPrivateKey, type ReadKey, readPrivateKey } from "../../records/signing/private-key.ts";
import { mayBeInParent } from "../../records/signing/signing-of.ts";
import { dnskeyText, dsText } from "../../records/signing/signing-texts.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { changeAndSay, failed, signingIn, withZone } from "./with-zone.ts";

/** The public part of BIND's key, with its flags, is in a file next to it. */
export async function readKeyFile(path: string): Promise<Result<ReadKey>> {
  const text = await readFileIfThere(path);
  if (text === undefined) return fail(noFile(path));
  return readPrivateKey(
    text,
    path.endsWith(".private") ? await readFileIfThere(path.replace(/private$/, "key")) : undefined,
  );
}

/** `keysOrPaths`: paths of files, or DNSKEY records. */
export async function readPublicKeys(
  keysOrPaths: readonly string[],
  io: CommandIo,
): Promise<Result<readonly PublicKey[]>> {
  const keys: PublicKey[] = [];
  for (const each of keysOrPaths) {
    const text = /\s3\s+\d+\s/.test(each) ? each : await readFileIfThere(resolve(io.cwd, each));
    if (text === undefined) return fail(noFile(each));
    const read = readDnskeys(text);
    if (!read.ok) return read;
    keys.push(...read.value);
  }
  return ok(keys);
}

const noFile = (path: string): Fault => ({
  code: "missing-file",
  where: path,
  message: "the file does not exist",
  todo: "check the path",
});

export async function dnssecPublish(typed: string, keysOrFile: string, options: DatabaseOptions, io: CommandIo) {
  const keys = await readPublicKeys([keysOrFile], io);
  if (!keys.ok) return failed(keys, io);
  return await changeAndSay(
    { typed, options, io },
    (service, operator, at) => service.publishKeys(operator, at, keys.value),
    forOtherServer,
  );
}

export const dnssecWithdraw = (typed: string, tag: number | undefined, options: DatabaseOptions, io: CommandIo) =>
  changeAndSay(
    { typed, options, io },
    (service, operator, at) => service.withdrawKeys(operator, at, tag === undefined ? [] : [tag]),
    (zone) => {
      const left = signingIn(zone).others?.map((other) => other.tag) ?? [];
      return `${zone.name} ${left.length === 0 ? "no longer publishes keys of another server" : `still publishes these keys of the other server: ${left.join(", ")}`}.\n`;
    },
  );

/** What the other server must publish, so that resolvers can query either server. */
export function forOtherServer(signed: Zone): string {
  const { name: zone } = signed;
  const { keys, others = [] } = signingIn(signed);
  const shown = keys.filter((key) => key.shown);
  const parent = [...keys.filter((key) => key.inParent), ...others.filter(mayBeInParent)];
  return [
    `${zone} now publishes ${tagsText(others)} of the other server too. While both servers answer for the zone, the other one must publish this:`,
    ...shown.map((key) => `  ${zone}. 3600 IN DNSKEY ${dnskeyText(key)}`),
    "Before resolvers can query both, the parent needs these DS records:",
    ...parent.map((key) => `  ${dsText(key, zone)}`),
    "",
  ].join("\n");
}

const tagsText = (keys: readonly { readonly tag: number }[]): string =>
  `the ${keys.length === 1 ? "key" : "keys"} ${keys.map(({ tag }) => tag).join(", ")}`;

export const dnssecExport = (typed: string, options: DatabaseOptions & { readonly to?: string }, io: CommandIo) =>
  withZone(typed, options, io, async (zone, { store, signer }) => {
    const { dnssec } = zone.settings;
    if (dnssec === undefined) return refuse(1, `${zone.name} is not signed.`, io);
    const encrypted = await store.encryptedKeys(zone);
    const files = dnssec.keys.map((key) => {
      const encryptedKey = encrypted.find(({ id }) => id === key.id);
      if (encryptedKey === undefined) throw new Error(`the private key ${key.tag} of ${zone.name} is missing`);
      return {
        name: `K${zone.name}.+${pad(key.algorithm, 3)}+${pad(key.tag, 5)}`,
        secret: printPrivateKey(signer.decryptKey(encryptedKey), key),
        state: printKeyState(key, dnssec),
        record: `${zone.name}. IN DNSKEY ${dnskeyText(key)}\n`,
      };
    });
    if (options.to === undefined) {
      io.out(files.map(({ secret, record }) => `; ${record}${secret}`).join("\n"));
      return 0;
    }
    const folder = resolve(io.cwd, options.to);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const { name, secret, state, record } of files) {
      await writeNew(join(folder, `${name}.private`), secret, 0o600);
      await writeNew(join(folder, `${name}.key`), record, 0o644);
      await writeNew(join(folder, `${name}.state`), state, 0o644);
      io.out(`${join(options.to, name)}.private\n`);
    }
    return 0;
  });

const pad = (value: number, width: number): string => String(value).padStart(width, "0");

async function writeNew(file: string, content: string, mode: number): Promise<void> {
  try {
    await asNewFile(file, () => replaceFile(file, content, mode));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const because = code === "EEXIST" ? "already exists; give another folder" : `cannot be written: ${message}`;
    throw new Error(`${file} ${because}`, { cause: error });
  }
}
