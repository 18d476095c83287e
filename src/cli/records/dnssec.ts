import { resolve } from "node:path";
import { algorithmChoices, algorithmName, algorithms } from "../../core/dnssec/codes.ts";
import { afterTtls } from "../../core/dnssec/lifecycle.ts";
import type { DenialKind } from "../../core/dnssec/plan-signing.ts";
import { stageEnd } from "../../core/dnssec/stage-end.ts";
import type { Instant } from "../../core/instant.ts";
import type { Zone, ZoneSigning } from "../../records/model.ts";
import { longestInCaches } from "../../records/signing/lifecycle/cached-ttl.ts";
import { isDsWanted, mayBeInParent } from "../../records/signing/signing-of.ts";
import { dnskeyText, dsParts, dsText, faultInWords, stageInWords } from "../../records/signing/signing-texts.ts";
import type { RecordStore } from "../../records/store/port.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { minute, printList } from "../io/print-table.ts";
import { sameStore } from "../store/read-store-place.ts";
import { withStore } from "../store/with-store.ts";
import { forOtherServer, readKeyFile, readPublicKeys } from "./dnssec-keys.ts";
import { changeAndSay, changeSigning, failed, signingIn, withZone } from "./with-zone.ts";

export type DnssecOn = DatabaseOptions & {
  readonly algorithm: string;
  readonly nsec3?: boolean;
  readonly key?: string;
  readonly alsoPublish: readonly string[];
};

export async function dnssecOn(typed: string, options: DnssecOn, io: CommandIo): Promise<number> {
  const key = options.key === undefined ? undefined : await readKeyFile(resolve(io.cwd, options.key));
  if (key?.ok === false) return failed(key, io);
  const others = await readPublicKeys(options.alsoPublish, io);
  if (!others.ok) return failed(others, io);
  return await withZone(typed, options, io, async (zone, { service }) => {
    const algorithm = algorithmChoices[options.algorithm] ?? algorithms.ecdsap256;
    const denial = options.nsec3 ? ("nsec3" as const) : ("nsec" as const);
    const choice = { algorithm, denial, key: key?.value, multiSignerKeys: others.value };
    const done = await changeSigning(zone, (operator, at) => service.signZone(operator, at, choice));
    if (!done.ok) return failed(done, io);
    const { keys, stage, others: published } = signingIn(done.value);
    io.out(
      key === undefined
        ? `${zone.name} is signed. Resolvers validate it once the parent has this DS record:\n\n`
        : `${zone.name} is signed with the given key. If the parent has DS records but not the one below, the other server signs with a different key: give that one instead.\n\n`,
    );
    for (const each of keys) io.out(`${dsText(each, zone.name)}\n`);
    io.out(
      `\n${stage === "new" ? "Give it to your registrar when the stage is new-parent; until then, resolvers may still have unsigned records cached.\n" : ""}` +
        `${io.program} dnssec status ${await sameStore(options, io)} ${zone.name} shows the stage, and the DS record in every form that registrars ask for.\n`,
    );
    if (published) io.out(`\n${forOtherServer(done.value)}`);
    return 0;
  });
}

type DnssecOff = DatabaseOptions & { readonly now?: boolean; readonly cancel?: boolean };

export const dnssecOff = (typed: string, options: DnssecOff, io: CommandIo) =>
  changeAndSay(
    { typed, options, io },
    (service, operator, at) =>
      options.cancel ? service.keepSigned(operator, at) : service.unsignZone(operator, at, options.now ?? false),
    (zone) => {
      if (options.cancel) return `${zone.name} stays signed: ${stageInWords(signingIn(zone))}.\n`;
      if (options.now) return `${zone.name} is no longer signed.\n`;
      return (
        `${zone.name} asks its parent to remove the DS record (CDS). If the registry does not act on CDS records, remove it at your registrar. ` +
        "The zone stays signed until the DS record has expired from caches.\n"
      );
    },
  );

export const dnssecRoll = (
  typed: string,
  options: DatabaseOptions & { readonly algorithm?: string },
  io: CommandIo,
) => {
  const algorithm = options.algorithm === undefined ? undefined : algorithmChoices[options.algorithm];
  return changeAndSay(
    { typed, options, io },
    (service, operator, at) => service.rollKey(operator, at, algorithm),
    (zone) => {
      const signing = signingIn(zone);
      const others = signing.others ? forOtherServer(zone) : "";
      return `The key of ${zone.name} is being replaced: ${stageInWords(signing)}.\n${others}`;
    },
  );
};

export const dnssecDenial = (typed: string, denial: DenialKind, options: DatabaseOptions, io: CommandIo) =>
  changeAndSay(
    { typed, options, io },
    (service, operator, at) => service.changeDenial(operator, at, denial),
    ({ name }) => `${name} now uses ${denial.toUpperCase()}. It stays signed with the same keys.\n`,
  );

export const dnssecResign = (typed: string, options: DatabaseOptions, io: CommandIo) =>
  changeAndSay(
    { typed, options, io },
    (service, operator, at) => service.resignZone(operator, at),
    ({ name }) => `Every record of ${name} is signed again, with the same keys.\n`,
  );

export const dnssecIgnoreSilent = (typed: string, options: DatabaseOptions, io: CommandIo) =>
  changeAndSay(
    { typed, options, io },
    (service, operator, at) => service.ignoreSilentServers(operator, at),
    ({ name }) =>
      `${name} no longer waits for servers of the parent that do not answer, until it is secure or unsigned. ` +
      "If such a server still gives resolvers the old DS record, they reject the zone.\n",
  );

export async function dnssecStatus(
  typed: string | undefined,
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  if (typed === undefined) return await withStore(options, io, (store) => listZones(store, options, io));
  return await withZone(typed, options, io, async (zone, { store }) => {
    const { dnssec } = zone.settings;
    if (options.json) io.out(`${JSON.stringify(await forPrograms(store, zone), null, 2)}\n`);
    else if (dnssec === undefined) io.out(`${zone.name} is not signed.\n`);
    else io.out(statusText(zone, dnssec, await endOfStage(store, zone, dnssec)));
    return 0;
  });
}

/** As in `nextStage`: what caches had when the stage began counts too. */
async function endOfStage(
  store: RecordStore,
  zone: Zone,
  { stage, since, parentSince = since, zoneTtl = 0 }: ZoneSigning,
): Promise<Instant | undefined> {
  const longest = afterTtls.has(stage) ? await longestInCaches(store, zone, Date.now()) : 0;
  return stageEnd(stage, parentSince, Math.max(zoneTtl, longest));
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
  const shownZones = [];
  if (options.json) for (const zone of zones) shownZones.push(await forPrograms(store, zone));
  const none = `No zone is signed yet; sign one with: ${io.program} dnssec on ${await sameStore(options, io)} ZONE`;
  const heads = ["zone", "stage", "since", "keys", "meaning"];
  const rows = zones.map(({ name, settings: { dnssec } }) => [
    name,
    dnssec?.stage ?? "",
    minute(dnssec?.since),
    dnssec?.keys.map(({ tag }) => tag).join(", ") ?? "",
    dnssec ? meaningOf(dnssec) : "",
  ]);
  return printList({ json: options.json, forPrograms: shownZones, heads, rows, none }, io);
}

function meaningOf(signing: ZoneSigning): string {
  const [stage, fault] = [stageInWords(signing), signing.parentFault?.text];
  return fault === undefined || stage.includes(fault) ? stage : `${stage}; ${fault}`;
}

function statusText({ name }: Zone, signing: ZoneSigning, ends: Instant | undefined): string {
  const { stage, since, denial, keys, parentSince, parentFault, others = [] } = signing;
  const lines = [
    `${name} is signed, with ${denial.toUpperCase()}`,
    `Stage ${stage}, since ${minute(since)} UTC: ${stageInWords(signing)}${parentSince === undefined ? "" : `; the change at the parent was first seen at ${minute(parentSince)} UTC`}`,
  ];
  if (ends !== undefined) lines.push(`The next stage begins at ${minute(ends)} UTC, or within minutes after that.`);
  if (parentFault) lines.push(`At the parent, since ${minute(parentFault.since)} UTC: ${faultInWords(parentFault)}`);
  if (signing.ignoresSilent) lines.push("Servers of the parent that do not answer are ignored.");
  for (const key of keys.filter((each) => isDsWanted(each, stage))) {
    const { digest } = dsParts(key, name);
    lines.push(
      "",
      `For the registrar${stage === "new" ? ", at the stage new-parent" : ""}, as a DS record:`,
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
  for (const key of keys) {
    const { tag, algorithm, created, shown, signs } = key;
    const isWanted = isDsWanted(key, stage);
    const uses = [
      shown && "published",
      signs && "signs the zone",
      isWanted && "needs a DS record at the parent",
    ].filter(Boolean);
    lines.push(
      `  ${tag}, algorithm ${algorithm}, created ${minute(created)} UTC: ${uses.join(", ") || "not used yet"}`,
    );
  }
  if (others.length > 0) lines.push("", "Keys of another server that also signs the zone, published here too:");
  for (const other of others)
    lines.push(
      `  ${other.tag}, algorithm ${other.algorithm}, since ${minute(other.added)} UTC: published${mayBeInParent(other) ? ", needs a DS record at the parent" : ""}`,
    );
  return `${lines.join("\n")}\n`;
}

async function forPrograms(store: RecordStore, zone: Zone) {
  const {
    name,
    settings: { dnssec },
  } = zone;
  const ends = dnssec && (await endOfStage(store, zone, dnssec));
  return {
    zone: name,
    signed: dnssec !== undefined,
    ...(dnssec && {
      stage: dnssec.stage,
      denial: dnssec.denial,
      since: new Date(dnssec.since).toISOString(),
      until: ends === undefined ? null : new Date(ends).toISOString(),
      meaning: stageInWords(dnssec),
      parentFault: dnssec.parentFault
        ? {
            kind: dnssec.parentFault.kind,
            text: faultInWords(dnssec.parentFault),
            since: new Date(dnssec.parentFault.since).toISOString(),
          }
        : null,
      keys: dnssec.keys.map((key) => ({
        tag: key.tag,
        algorithm: key.algorithm,
        published: key.shown,
        signs: key.signs,
        dsWanted: isDsWanted(key, dnssec.stage),
        ds: dsText(key, name),
        dnskey: dnskeyText(key),
        created: new Date(key.created).toISOString(),
      })),
      otherKeys: (dnssec.others ?? []).map((key) => ({
        tag: key.tag,
        algorithm: key.algorithm,
        dsWanted: mayBeInParent(key),
        dnskey: dnskeyText(key),
        added: new Date(key.added).toISOString(),
      })),
    }),
  };
}
