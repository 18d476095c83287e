import type { FastifyInstance } from "fastify";
import { answers, bodies, type RrsetsSigning } from "../../../contract/rrsets.ts";
import { algorithmChoices, algorithmName, algorithms, dnssecTypes } from "../../../core/dnssec/codes.ts";
import { apex } from "../../../core/names/name.ts";
import type { Fault } from "../../../core/result.ts";
import { badInput } from "../../../core/result.ts";
import type { IdempotencyOption } from "../../commands/requests.ts";
import type { MultiSignerKey, SigningKey, Zone, ZoneKey, ZoneSigning } from "../../model.ts";
import { type Actor, missing } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { type PublicKey, readDnskeys } from "../../signing/multi-signer-keys.ts";
import { isDsWanted, mayBeInParent, signingOf } from "../../signing/signing-of.ts";
import { apexValue, dnskeyText, dsParts, dsText, faultInWords, stageInWords } from "../../signing/signing-texts.ts";
import { routesOf } from "../shared/route.ts";
import { act, type ReadBodyFields, sendError, zoneAt } from "./answer.ts";
import { answerTo } from "./errors.ts";
import { type BodyFields, flagAt, isGiven } from "./input.ts";
import { timeText } from "./wire.ts";

const route = routesOf("dnssec");

/** Not in the original API: how a zone is signed. */
export function rrsetsDnssecRoutes(api: FastifyInstance, service: RecordService): void {
  api.get(
    "/zones/:z/dnssec",
    route("Read how a zone is signed, and its DS record", { response: { 200: answers.dnssec } }),
    async (request, reply) => {
      const zone = await service.openZone(request.actor, zoneAt(request));
      return zone ? reply.send(answerOf({ zone })) : sendError(reply, answerTo(missing("zone")));
    },
  );

  const action = addActions(api);
  action("sign", "Sign a zone; if it has no NS records, it gets the nameservers of the service", bodies.sign, {
    read: (fields, faults) => ({
      algorithm: choiceAt(fields, "algorithm", algorithmChoices, faults) ?? algorithms.ecdsap256,
      denial: choiceAt(fields, "denial", denials, faults) ?? "nsec",
      multiSignerKeys: isGiven(fields.also_publish) ? dnskeysAt(fields, "also_publish", faults) : [],
    }),
    run: service.signZone,
  });
  action("roll_key", "Replace the key of a signed zone, step by step", bodies.rollKey, {
    read: (fields, faults) => choiceAt(fields, "algorithm", algorithmChoices, faults),
    run: service.rollKey,
  });
  action("change_denial", "Change between NSEC and NSEC3; the zone stays signed", bodies.changeDenial, {
    read: (fields, faults) => {
      if (!isGiven(fields.denial)) faults.push(badInput("denial", "is missing"));
      return choiceAt(fields, "denial", denials, faults) ?? "nsec";
    },
    run: service.changeDenial,
  });
  action("publish_keys", "Publish keys of another server that also signs the zone", bodies.publishKeys, {
    read: (fields, faults) => dnskeysAt(fields, "dnskeys", faults),
    run: service.publishKeys,
  });
  action("withdraw_keys", "Stop publishing keys of another server", bodies.withdrawKeys, {
    read: (fields, faults) => (isGiven(fields.key_tags) ? tagsAt(fields, "key_tags", faults) : []),
    run: service.withdrawKeys,
  });
  action("unsign", "Ask the parent to remove the DS record, and then unsign the zone", bodies.unsign, {
    read: (fields, faults) => isGiven(fields.immediately) && flagAt(fields, "immediately", faults),
    run: service.unsignZone,
  });
  action("keep_signed", "Cancel the unsigning of a zone that still waits for the parent", bodies.keepSigned, {
    read: () => ({}),
    run: service.keepSigned,
  });
  action(
    "ignore_silent_servers",
    "Do not wait for servers of the parent that do not answer; if one still has the old DS record, resolvers that ask it reject the zone",
    bodies.keepSigned,
    { read: () => ({}), run: service.ignoreSilentServers },
  );
}

/** Returns a function that adds an action of a zone. `run` does what `read` finds in the body. */
const addActions =
  (api: FastifyInstance) =>
  <Draft>(
    name: string,
    summary: string,
    body: object,
    { read, run }: { readonly read: ReadBodyFields<Draft>; readonly run: Run<Draft> },
  ) =>
    api.post(
      `/zones/:z/actions/${name}`,
      route(summary, { body, response: { 201: answers.dnssecAction } }),
      (request, reply) =>
        act(request, reply, {
          read,
          answerOf,
          run: (draft, idempotency) => run(request.actor, zoneAt(request), draft, idempotency),
        }),
    );

const answerOf = ({ zone }: { readonly zone: Zone }) => ({ dnssec: signingToWire(zone) });

type Run<Draft> = (
  actor: Actor,
  zone: ZoneKey,
  draft: Draft,
  idempotency: IdempotencyOption,
) => ReturnType<RecordService["signZone"]>;

const denials = { nsec: "nsec", nsec3: "nsec3" } as const;

function choiceAt<T>(
  fields: BodyFields,
  key: string,
  choices: Readonly<Record<string, T>>,
  faults: Fault[],
): T | undefined {
  const value = fields[key];
  if (!isGiven(value)) return undefined;
  const validChoice = typeof value === "string" && Object.hasOwn(choices, value) ? choices[value] : undefined;
  if (validChoice === undefined) faults.push(badInput(key, `must be one of ${Object.keys(choices).join(", ")}`));
  return validChoice;
}

/** DNSKEY records as text; a text may contain several. */
function dnskeysAt(fields: BodyFields, key: string, faults: Fault[]): readonly PublicKey[] {
  const texts = listAt(fields, key, (each): each is string => typeof each === "string", faults);
  return texts.flatMap((text) => {
    const read = readDnskeys(text);
    if (read.ok) return read.value;
    faults.push(...read.faults.map((fault) => ({ ...fault, where: key })));
    return [];
  });
}

const tagsAt = (fields: BodyFields, key: string, faults: Fault[]): readonly number[] =>
  listAt(fields, key, (each): each is number => Number.isInteger(each), faults);

function listAt<T>(
  fields: BodyFields,
  key: string,
  isOne: (each: unknown) => each is T,
  faults: Fault[],
): readonly T[] {
  const publicKeys = fields[key];
  if (Array.isArray(publicKeys) && publicKeys.length > 0 && publicKeys.every(isOne)) return publicKeys;
  faults.push(badInput(key, isGiven(publicKeys) ? "must be a list of DNSKEY records or key tags" : "is missing"));
  return [];
}

function signingToWire({ name, settings: { dnssec } }: Zone): RrsetsSigning {
  if (dnssec === undefined)
    return {
      signed: false,
      stage: null,
      stage_text: null,
      since: null,
      parent_since: null,
      denial: null,
      parent_fault: null,
      ignores_silent_servers: false,
      keys: [],
      other_keys: [],
      records: [],
    };
  const { stage, since, parentSince, parentFault, denial, keys, others = [] } = dnssec;
  return {
    signed: true,
    stage,
    stage_text: stageInWords(dnssec),
    since: timeText(since),
    denial,
    parent_since: parentSince === undefined ? null : timeText(parentSince),
    parent_fault: parentFault
      ? { kind: parentFault.kind, text: faultInWords(parentFault), since: timeText(parentFault.since) }
      : null,
    ignores_silent_servers: dnssec.ignoresSilent === true,
    keys: keys.map((key) => keyToWire(key, stage, name)),
    other_keys: others.map((key) => otherKeyToWire(key, name)),
    records: signingOf(dnssec, name, since).apexSets.flatMap(({ type, data }) => {
      const shown = shownTypes.get(type);
      return shown ? [{ name: apex, type: shown, values: data.map((each) => apexValue(type, each)) }] : [];
    }),
  };
}

const shownTypes: ReadonlyMap<number, string> = new Map([
  [dnssecTypes.dnskey, "DNSKEY"],
  [dnssecTypes.cds, "CDS"],
  [dnssecTypes.cdnskey, "CDNSKEY"],
]);

const otherKeyToWire = (key: MultiSignerKey, zone: string): RrsetsSigning["other_keys"][number] => ({
  key_tag: key.tag,
  algorithm: key.algorithm,
  algorithm_name: algorithmName(key.algorithm),
  added: timeText(key.added),
  ds_wanted: mayBeInParent(key),
  ds: mayBeInParent(key) ? dsText(key, zone) : null,
  dnskey: `${zone}. 3600 IN DNSKEY ${dnskeyText(key)}`,
});

function keyToWire(key: SigningKey, stage: ZoneSigning["stage"], zone: string): RrsetsSigning["keys"][number] {
  const { tag, algorithm, created, shown, signs } = key;
  const { digest, digestType } = dsParts(key, zone);
  return {
    key_tag: tag,
    algorithm,
    algorithm_name: algorithmName(algorithm),
    created: timeText(created),
    published: shown,
    signs,
    ds_wanted: isDsWanted(key, stage),
    digest_type: digestType,
    digest,
    ds: dsText(key, zone),
    dnskey: `${zone}. 3600 IN DNSKEY ${dnskeyText(key)}`,
  };
}
