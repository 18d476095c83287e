import { isObject } from "../../core/is-object.ts";
import { absoluteName, askedZoneName, ownerOf } from "../../core/names/name.ts";
import { highestTtl } from "../../core/records/rrset.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { isNumber, isText, openJsonApi, parseAny } from "../answers/json-api.ts";
import { listIn, mapFound } from "../answers/list-in.ts";
import { type Body, type Dialect, errorIn, noZone, unexpected } from "../answers/service-answer.ts";
import type { Lookup } from "../answers/service-fault.ts";
import type { WriteAnswer } from "../answers/write-answer.ts";
import { LastStep } from "../last-step.ts";
import type { HeldSet, ProviderAccount, ProviderCalls, SetChange, SetName } from "../provider-calls.ts";

const service = "PowerDNS";

const dialect: Dialect = {
  service,
  renew: "use the `api-key` of pdns.conf, and put it in the file named in the config",
  parse: parseAny,
  errorIn,
};

/** For a set that is created without a TTL. */
const usualTtl = 300;

const rules: ProviderCalls["rules"] = {
  ttl: { lowest: 0, highest: highestTtl, zoneDefault: false },
  mostValues: 1_000,
  // At 150 bytes each, they stay below its limit of 2 MB for a request.
  mostSets: 5_000,
  needsBefore: false,
};

export function powerdnsCalls(account: ProviderAccount, client: HttpClient): ProviderCalls<undefined> {
  const base = /\/servers\/[^/]+\/?$/.test(account.url.pathname) ? "" : "/api/v1/servers/localhost";
  const api = openJsonApi(client, dialect, () => ({ "x-api-key": account.token() }));
  const pathOf = (zone: string) => `${base}/zones/${encodeURIComponent(`${zone}.`)}`;
  /** From the latest read of each zone. */
  const zoneFacts = new Map<string, ZoneFacts>();
  const turns = new Map<string, Promise<unknown>>();

  const setsIn = async (zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly ReadableSet[]>> => {
    const answer = await api.get(pathOf(zone) + query, signal);
    if (answer.kind === "absent") return noZone(zone, service);
    if (answer.kind !== "ok") return answer;
    const { name, rrsets, kind, soa_edit_api: editsSerial } = answer.value;
    if (!isText(name) || askedZoneName(name) !== zone || !Array.isArray(rrsets) || !rrsets.every(isSet)) {
      return unexpected("no record sets of the zone", service);
    }
    zoneFacts.set(zone, {
      isPrimary: isText(kind) && primaryKinds.includes(kind),
      keepsSerial: editsSerial === "" && !(isText(kind) && copiedKinds.includes(kind)),
    });
    return { kind: "found", value: rrsets };
  };

  /** One after the other, so that no serial is used twice. */
  const inTurn = <T>(zone: string, work: () => Promise<T>): Promise<T> => {
    const mine = (turns.get(zone) ?? Promise.resolve()).then(work);
    turns.set(
      zone,
      mine.catch(() => undefined),
    );
    return mine;
  };

  const notify = async (zone: string, signal: AbortSignal): Promise<WriteAnswer<unknown>> => {
    if (!zoneFacts.get(zone)?.isPrimary) return { kind: "accepted", value: undefined };
    const sent = await api.send("PUT", `${pathOf(zone)}/notify`, {}, [200], signal);
    // It refuses if there is nobody to notify.
    return sent.kind === "refused" ? { kind: "accepted", value: undefined } : sent;
  };

  return {
    service,
    rules,
    lastStep: new LastStep(service, notify),
    async zones(signal) {
      const answer = await api.get(`${base}/zones`, signal);
      const found = listIn(answer, { service, key: "list", what: "zones", isItem: isZone });
      return mapFound(found, (zones) => zones.map(({ id, name }) => ({ id, name: askedZoneName(name) })));
    },
    async sets(zone, signal) {
      return mapFound(await setsIn(zone, "", signal), (sets) =>
        sets.map((set) => ({
          name: ownerOf(askedZoneName(set.name), zone) ?? printable(set.name),
          type: set.type,
          disabled: set.records.filter(isDisabled).map(({ content }) => content),
          ...heldIn(set),
        })),
      );
    },
    async read(set, signal) {
      // Versions before 4.7 ignore the query and send the whole zone.
      const query = `?rrset_name=${encodeURIComponent(ownerIn(set))}&rrset_type=${set.type}`;
      return mapFound(await setsIn(set.zone, query, signal), (sets) => {
        const held = sets.find(isNamed(set));
        return held && heldIn(held);
      });
    },
    /** A set is replaced as a whole, and only a read of the whole zone shows its disabled records. */
    write: (zone, changes, signal) =>
      inTurn(zone, async (): Promise<WriteAnswer<readonly undefined[]>> => {
        const all = await setsIn(zone, "", signal);
        if (all.kind !== "found") return { kind: "refused", because: all };
        const byName = new Map(all.value.map((each) => [`${each.name.toLowerCase()} ${each.type}`, each]));
        const sets = changes.map((change) => wanted(change, byName.get(`${ownerIn(change.set)} ${change.set.type}`)));
        // In the same transaction, if PowerDNS would keep the old serial.
        const soa = zoneFacts.get(zone)?.keepsSerial ? all.value.find(({ type }) => type === "SOA") : undefined;
        const rrsets = soa ? [...sets, withNextSerial(soa)] : sets;
        const written = await api.send("PATCH", pathOf(zone), { rrsets }, [200, 204], signal);
        return written.kind === "accepted" ? { kind: "accepted", value: [] } : written;
      }),
    close: () => client.close(),
  };
}

/** `keepsSerial`: a change through the API does not raise the serial, as in zones that were made by pdnsutil or SQL. */
type ZoneFacts = { readonly isPrimary: boolean; readonly keepsSerial: boolean };

/** In the words of versions 4 and 5. */
const primaryKinds = ["Master", "Primary", "Producer"];
/** Zones that come from another server, with their serial. */
const copiedKinds = ["Slave", "Secondary", "Consumer"];

/** Without a new serial, secondaries would keep the old records. */
const withNextSerial = ({ name, type, ttl, records }: ReadableSet) => ({
  name,
  type,
  ttl,
  changetype: "REPLACE",
  records: records.map(({ content }) => ({
    // Zero is skipped: it told older versions to compute the serial.
    content: content.replace(/^(\S+ \S+ )(\d+)/, (_, names: string, serial: string) => {
      const next = (Number(serial) + 1) % 2 ** 32;
      return names + String(next || 1);
    }),
    disabled: false,
  })),
});

const ownerIn = ({ zone, name }: SetName) => `${absoluteName(name, zone)}.`;

const isNamed = (set: SetName) => (each: ReadableSet) =>
  each.type === set.type && each.name.toLowerCase() === ownerIn(set);

/** A set is replaced as a whole, including its disabled records. Without `comments`, they stay as they are. */
function wanted({ set, content, before }: SetChange<undefined>, found: ReadableSet | undefined) {
  const { name, type } = { name: ownerIn(set), type: set.type };
  const records = [
    ...(content?.values ?? []).map((value) => ({ content: value, disabled: false })),
    ...(found?.records.filter(isDisabled) ?? []),
  ];
  if (records.length === 0) return { name, type, changetype: "DELETE" };
  const heldTtl = before === "missing" ? undefined : (before?.ttl ?? found?.ttl);
  return { name, type, ttl: content?.ttl ?? heldTtl ?? usualTtl, changetype: "REPLACE", records };
}

const heldIn = ({ records, ttl }: ReadableSet): HeldSet<undefined> => ({
  values: records.filter((each) => !isDisabled(each)).map(({ content }) => content),
  ttl,
  rest: undefined,
});

const isDisabled = ({ disabled }: ReadableSet["records"][number]) => disabled === true;

type ReadableSet = {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly records: readonly { readonly content: string; readonly disabled?: boolean }[];
};

const isSet = (value: unknown): value is ReadableSet =>
  isObject(value) &&
  [value.name, value.type].every(isText) &&
  isNumber(value.ttl) &&
  Array.isArray(value.records) &&
  value.records.every((record: unknown) => isObject(record) && isText(record.content));

const isZone = (value: unknown): value is Body & { id: string; name: string } =>
  isObject(value) && isText(value.id) && isText(value.name);
