import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Algorithm, algorithms } from "../../core/dnssec/codes.ts";
import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import type { Result } from "../../core/result.ts";
import type { Zone, ZoneSigning } from "../../records/model.ts";
import { rollKey, type SigningWriter, signZone, unsignNow, unsignZone } from "../../records/service/zones/dnssec.ts";
import { printPrivateKey, type ReadKey, readPrivateKey } from "../../records/signing/private-key.ts";
import type { Signer } from "../../records/signing/signer.ts";
import { algorithmName, dnskeyText, dsParts, dsText, stageWords } from "../../records/signing/signing-texts.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { minute, printTable } from "../io/print-table.ts";
import { placeOf, writeSecretOr } from "../io/write-secret.ts";
import { sameStore } from "../store/read-store-place.ts";
import { withStore } from "../store/with-store.ts";

export const algorithmNames: Readonly<Record<string, Algorithm>> = {
  "ecdsa-p256": algorithms.ecdsap256,
  ed25519: algorithms.ed25519,
};

export type DnssecOn = DatabaseOptions & {
  readonly algorithm: string;
  readonly nsec3?: boolean;
  readonly key?: string;
};

export async function dnssecOn(typed: string, options: DnssecOn, io: CommandIo): Promise<number> {
  const key = options.key === undefined ? undefined : await readKeyFile(resolve(io.cwd, options.key));
  if (key?.ok === false) return failed(key, io);
  return await withZone(typed, options, io, async (zone, by, signer) => {
    const algorithm = algorithmNames[options.algorithm] ?? algorithms.ecdsap256;
    const choice = { algorithm, denial: options.nsec3 ? ("nsec3" as const) : ("nsec" as const), key: key?.value };
    const signed = await signZone(by, zone, choice, signer);
    if (!signed.ok) return failed(signed, io);
    io.out(
      `${zone.name} is signed. Give this DS record to your registrar; resolvers check the signatures once the parent has it:\n\n`,
    );
    for (const each of signed.value.keys) io.out(`${dsText(each, zone.name)}\n`);
    io.out(
      `\n${io.program} dnssec status ${sameStore(options, io)} ${zone.name} shows it again, in every form that registrars ask for.\n`,
    );
    return 0;
  });
}

async function readKeyFile(path: string): Promise<Result<ReadKey>> {
  return readPrivateKey(await readFile(path, "utf8"));
}

export const dnssecOff = (typed: string, options: DatabaseOptions & { readonly now?: boolean }, io: CommandIo) =>
  withZone(typed, options, io, async (zone, by) => {
    const done = options.now ? await unsignNow(by, zone) : await unsignZone(by, zone);
    if (!done.ok) return failed(done, io);
    io.out(
      options.now
        ? `${zone.name} is no longer signed.\n`
        : `${zone.name} asks its parent to remove the DS record (CDS). If the parent does not do that automatically, remove it at your registrar. ` +
            "The zone stays signed until no resolver can have the old DS record.\n",
    );
    return 0;
  });

export const dnssecRoll = (typed: string, options: DatabaseOptions & { readonly algorithm?: string }, io: CommandIo) =>
  withZone(typed, options, io, async (zone, by, signer) => {
    const algorithm = options.algorithm === undefined ? undefined : algorithmNames[options.algorithm];
    const done = await rollKey(by, zone, algorithm, signer);
    if (!done.ok) return failed(done, io);
    io.out(`The key of ${zone.name} is being replaced: ${stageWords[done.value.stage]}.\n`);
    return 0;
  });

export async function dnssecStatus(
  typed: string | undefined,
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  if (typed === undefined) return await withStore(options, io, (store) => listZones(store, options, io));
  return await withZone(typed, options, io, async (zone) => {
    const { dnssec } = zone.settings;
    if (options.json) io.out(`${JSON.stringify(forPrograms(zone), null, 2)}\n`);
    else if (dnssec === undefined) io.out(`${zone.name} is not signed.\n`);
    else io.out(statusText(zone, dnssec));
    return 0;
  });
}

async function listZones(
  store: RecordStore,
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  const zones: Zone[] = [];
  for (let page = await store.signedZones(0, 500); page.length > 0; ) {
    zones.push(...page);
    page = await store.signedZones(page.at(-1)?.number ?? 0, 500);
  }
  if (options.json) io.out(`${JSON.stringify(zones.map(forPrograms), null, 2)}\n`);
  else if (zones.length === 0)
    io.out(`No zone is signed yet; sign one with: ${io.program} dnssec on ${sameStore(options, io)} ZONE\n`);
  else
    io.out(
      printTable(
        ["zone", "stage", "since", "keys"],
        zones.map(({ name, settings: { dnssec } }) => [
          name,
          dnssec?.stage ?? "",
          minute(dnssec?.since),
          dnssec?.keys.map(({ tag }) => tag).join(", ") ?? "",
        ]),
      ),
    );
  return 0;
}

export const dnssecExport = (typed: string, options: DatabaseOptions & { readonly to?: string }, io: CommandIo) =>
  withZone(typed, options, io, async (zone, { store }, signer) => {
    const { dnssec } = zone.settings;
    if (dnssec === undefined) return refuse(1, `${zone.name} is not signed.`, io);
    const sealed = await store.sealedKeys(zone);
    const texts = dnssec.keys.map((key) => {
      const found = sealed.find(({ id }) => id === key.id);
      if (found === undefined) throw new Error(`the private key ${key.tag} of ${zone.name} is missing`);
      const text = printPrivateKey({ key: signer.unseal(found), algorithm: key.algorithm });
      return `; ${zone.name}. IN DNSKEY ${dnskeyText(key)}\n${text}`;
    });
    const place = placeOf(options, io);
    if (place === "taken") return 1;
    if (place === undefined) io.out(texts.join("\n"));
    else await writeSecretOr(() => undefined, place, texts.join("\n"));
    return 0;
  });

export async function withZone(
  typed: string,
  options: DatabaseOptions,
  io: CommandIo,
  work: (zone: Zone, by: SigningWriter, signer: Signer) => Promise<number>,
): Promise<number> {
  const name = parseTyped(parseZoneName, typed);
  if (!name.ok) {
    printFaults(name.faults, io);
    return 2;
  }
  return await withStore(options, io, async (store, signer) => {
    const zone = await store.zoneHolding(name.value);
    if (zone?.name !== name.value) return refuse(1, `There is no zone ${typed}.`, io);
    return await work(zone, { store, actor: "operator", now: Date.now() }, signer);
  });
}

function failed(result: Result<unknown>, io: CommandIo): number {
  if (!result.ok) printFaults(result.faults, io);
  return 1;
}

function statusText({ name }: Zone, { stage, since, denial, keys, parentSince }: ZoneSigning): string {
  const lines = [
    `${name} is signed, with ${denial.toUpperCase()}`,
    `Stage: ${stage}, since ${minute(since)} UTC: ${stageWords[stage]}${parentSince === undefined ? "" : `; the parent has done so (${minute(parentSince)} UTC), now waiting until no resolver has its old answer`}`,
  ];
  const inParent = keys.filter((key) => key.inParent);
  for (const key of stage === "leaving" ? [] : inParent) {
    const { digest } = dsParts(key, name);
    lines.push(
      "",
      "For the registrar, as a DS record:",
      `  ${dsText(key, name)}`,
      "or field by field:",
      `  Key tag      ${key.tag}`,
      `  Algorithm    ${key.algorithm} (${algorithmName(key.algorithm)})`,
      "  Digest type  2 (SHA-256)",
      `  Digest       ${digest}`,
      "or as a DNSKEY record (flags 257, protocol 3):",
      `  ${name}. 3600 IN DNSKEY ${dnskeyText(key)}`,
    );
  }
  lines.push("", "Keys:");
  for (const { tag, algorithm, created, shown, signs, inParent: wanted } of keys) {
    const uses = [shown && "published", signs && "signs the zone", wanted && "in the parent"].filter(Boolean);
    lines.push(`  ${tag}, algorithm ${algorithm}, made ${minute(created)} UTC: ${uses.join(", ") || "not used yet"}`);
  }
  return `${lines.join("\n")}\n`;
}

const forPrograms = ({ name, settings: { dnssec } }: Zone) => ({
  zone: name,
  signed: dnssec !== undefined,
  ...(dnssec && {
    ...{ stage: dnssec.stage, denial: dnssec.denial, since: new Date(dnssec.since).toISOString() },
    keys: dnssec.keys.map((key) => ({
      ...{ tag: key.tag, algorithm: key.algorithm, published: key.shown, signs: key.signs, inParent: key.inParent },
      ...{ ds: dsText(key, name), dnskey: dnskeyText(key), created: new Date(key.created).toISOString() },
    })),
  }),
});
