import { absoluteName, ownerOf, zoneNameOf } from "../../core/names/name.ts";
import { highestTtl } from "../../core/records/rrset.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import {
  type ItemOf,
  isNumber,
  isText,
  type JsonApi,
  listOf,
  openJsonApi,
  parseAny,
  withFields,
} from "../answers/json-api.ts";
import { listIn, mapFound } from "../answers/list-in.ts";
import { type ApiDialect, errorIn, noZone, unexpected } from "../answers/service-answer.ts";
import type { Lookup } from "../answers/service-fault.ts";
import { type WriteAnswer, withoutSets } from "../answers/write-answer.ts";
import { LastStep } from "../last-step.ts";
import type { CurrentSet, ProviderAccount, ProviderCalls, ProviderSetChange, SetName } from "../provider-calls.ts";

const service = "PowerDNS";

const dialect: ApiDialect = {
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
  const zoneSets = new ZoneSets(api, base);
  return {
    service,
    rules,
    lastStep: new LastStep(service, (zone, signal) => zoneSets.notify(zone, signal)),
    async zones(signal) {
      const answer = await api.get(`${base}/zones`, signal);
      const lookup = listIn(answer, { service, key: "list", what: "zones", isItem: isZone });
      return mapFound(lookup, (zones) => zones.map(({ id, name }) => ({ id, name: zoneNameOf(name) })));
    },
    async sets(zone, signal) {
      return mapFound(await zoneSets.read(zone, "", signal), (sets) =>
        sets.map((set) => ({
          name: ownerOf(zoneNameOf(set.name), zone) ?? printable(set.name),
          type: set.type,
          disabled: set.records.filter(isDisabled).map(({ content }) => content),
          ...currentSetOf(set),
        })),
      );
    },
    async read(set, signal) {
      // Versions before 4.7 ignore the query and send the whole zone.
      const query = `?rrset_name=${encodeURIComponent(ownerIn(set))}&rrset_type=${set.type}`;
      return mapFound(await zoneSets.read(set.zone, query, signal), (sets) => {
        const current = sets.find(isNamed(set));
        return current && currentSetOf(current);
      });
    },
    write: (zone, changes, signal) => zoneSets.write(zone, changes, signal),
    close: () => client.close(),
  };
}

/** The sets of each zone, and what else has to be known to change them. */
class ZoneSets {
  readonly #api: JsonApi;
  readonly #base: string;
  /** From the latest read of each zone. */
  readonly #facts = new Map<string, ZoneFacts>();
  /** The latest write of each zone. */
  readonly #writes = new Map<string, Promise<unknown>>();

  constructor(api: JsonApi, base: string) {
    this.#api = api;
    this.#base = base;
  }

  async read(zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly ReadableSet[]>> {
    const answer = await this.#api.get(this.#pathOf(zone) + query, signal);
    if (answer.kind === "absent") return noZone(zone, service);
    if (answer.kind !== "ok") return answer;
    const { name, rrsets, kind, soa_edit_api: editsSerial } = answer.value;
    if (!isText(name) || zoneNameOf(name) !== zone || !Array.isArray(rrsets) || !rrsets.every(isSet)) {
      return unexpected("no record sets of the zone", service);
    }
    this.#facts.set(zone, {
      isPrimary: isText(kind) && primaryKinds.includes(kind),
      keepsSerial: editsSerial === "" && !(isText(kind) && copiedKinds.includes(kind)),
    });
    return { kind: "found", value: rrsets };
  }

  /** One after the other, so that no serial is used twice. */
  write(zone: string, changes: readonly ProviderSetChange<undefined>[], signal: AbortSignal) {
    const write = (this.#writes.get(zone) ?? Promise.resolve()).then(() => this.#patch(zone, changes, signal));
    this.#writes.set(
      zone,
      write.catch(() => undefined),
    );
    return write;
  }

  /** A set is replaced as a whole, and only a read of the whole zone shows its disabled records. */
  async #patch(
    zone: string,
    changes: readonly ProviderSetChange<undefined>[],
    signal: AbortSignal,
  ): Promise<WriteAnswer<readonly undefined[]>> {
    const all = await this.read(zone, "", signal);
    if (all.kind !== "found") return { kind: "refused", because: all };
    const byName = new Map(all.value.map((each) => [`${each.name.toLowerCase()} ${each.type}`, each]));
    const sets = changes.map((change) => wanted(change, byName.get(`${ownerIn(change.set)} ${change.set.type}`)));
    // In the same transaction, if PowerDNS would keep the old serial.
    const soa = this.#facts.get(zone)?.keepsSerial ? all.value.find(({ type }) => type === "SOA") : undefined;
    const rrsets = soa ? [...sets, withNextSerial(soa)] : sets;
    return withoutSets(await this.#api.send("PATCH", this.#pathOf(zone), { rrsets }, [200, 204], signal));
  }

  async notify(zone: string, signal: AbortSignal): Promise<WriteAnswer<unknown>> {
    if (!this.#facts.get(zone)?.isPrimary) return { kind: "accepted", value: undefined };
    const sent = await this.#api.send("PUT", `${this.#pathOf(zone)}/notify`, {}, [200], signal);
    // It refuses if there is nobody to notify.
    return sent.kind === "refused" ? { kind: "accepted", value: undefined } : sent;
  }

  #pathOf(zone: string): string {
    return `${this.#base}/zones/${encodeURIComponent(`${zone}.`)}`;
  }
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
function wanted({ set, content, before }: ProviderSetChange<undefined>, storedSet: ReadableSet | undefined) {
  const { name, type } = { name: ownerIn(set), type: set.type };
  const records = [
    ...(content?.values ?? []).map((value) => ({ content: value, disabled: false })),
    ...(storedSet?.records.filter(isDisabled) ?? []),
  ];
  if (records.length === 0) return { name, type, changetype: "DELETE" };
  const heldTtl = before === "missing" ? undefined : (before?.ttl ?? storedSet?.ttl);
  return { name, type, ttl: content?.ttl ?? heldTtl ?? usualTtl, changetype: "REPLACE", records };
}

const currentSetOf = ({ records, ttl }: ReadableSet): CurrentSet<undefined> => ({
  values: records.filter((each) => !isDisabled(each)).map(({ content }) => content),
  ttl,
  raw: undefined,
});

const isDisabled = ({ disabled }: ReadableSet["records"][number]) => disabled === true;

const isSet = withFields({
  name: isText,
  type: isText,
  ttl: isNumber,
  records: listOf(withFields({ content: isText })),
});

type ReadableSet = ItemOf<typeof isSet>;

const isZone = withFields({ id: isText, name: isText });
