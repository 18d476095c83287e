import { isObject } from "../../../core/is-object.ts";
import { absoluteName, askedZoneName } from "../../../core/names/name.ts";
import type { HttpClient } from "../../http/client.ts";
import { type Body, type Dialect, errorIn, noZone, unexpected } from "../service-answer.ts";
import { listedName, type SetName } from "../set-target.ts";
import type { Lookup, TargetKind } from "../target.ts";
import { type TokenTarget, tokenSettings } from "../token-target.ts";
import { createZoneTarget, type SetChange, type ZoneCalls } from "../zone-target.ts";
import { isNumber, isText, openJsonApi, parseAny } from "./json-api.ts";
import { listIn, mapFound } from "./listed-records.ts";

export const powerdns = {
  ...tokenSettings(
    "Target: powerdns",
    "The HTTP API of a PowerDNS Authoritative Server. `token` is its `api-key`. Comments and disabled records are kept.",
    "https://pdns.example.org",
  ),
  can: { create: true, ttl: true, remove: true },
  open: async (config: TokenTarget, connect) => createZoneTarget(powerdnsCalls(config, await connect(config))),
} satisfies TargetKind<TokenTarget>;

const service = "PowerDNS";

const dialect: Dialect = {
  service,
  renew: "use the `api-key` of pdns.conf, and put it in the file named in the config",
  parse: parseAny,
  errorIn,
};

/** For a set that is created, if the config has no `ttl:`. */
const usualTtl = 300;
/** Of one request: at 150 bytes each, they stay below its limit of 2 MB. */
const mostSets = 5_000;

function powerdnsCalls(config: TokenTarget, client: HttpClient): ZoneCalls<Disabled> {
  const base = /\/servers\/[^/]+\/?$/.test(config.url.pathname) ? "" : "/api/v1/servers/localhost";
  const api = openJsonApi(client, dialect, () => ({ "x-api-key": config.token() }));
  const pathOf = (zone: string) => `${base}/zones/${encodeURIComponent(`${zone}.`)}`;

  const setsIn = async (zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly ReadableSet[]>> => {
    const answer = await api.get(pathOf(zone) + query, signal);
    if (answer.kind === "absent") return noZone(zone, service);
    if (answer.kind !== "ok") return answer;
    const { name, rrsets } = answer.value;
    if (!isText(name) || askedZoneName(name) !== zone || !Array.isArray(rrsets) || !rrsets.every(isSet)) {
      return unexpected("no record sets of the zone", service);
    }
    return { kind: "found", value: rrsets };
  };

  const patch = async (zone: string, rrsets: readonly unknown[], signal: AbortSignal) => {
    const written = await api.send("PATCH", pathOf(zone), { rrsets }, [200, 204], signal);
    return written.kind === "accepted" ? { kind: "accepted" as const, value: undefined } : written;
  };

  return {
    service,
    async read(set, signal) {
      // Versions before 4.7 ignore the query and send the whole zone.
      const query = `?rrset_name=${encodeURIComponent(ownerIn(set))}&rrset_type=${set.type}`;
      const found = await setsIn(set.zone, query, signal);
      if (found.kind !== "found") return found;
      const held = found.value.find(isNamed(set));
      if (!held) return { kind: "found", value: undefined };
      const values = held.records.filter((each) => !isDisabled(each)).map(({ content }) => content);
      return { kind: "found", value: { values, ttl: held.ttl, rest: [] } };
    },
    async write(set, content, held, signal) {
      // A set is replaced as a whole, and only a read of the whole zone shows its disabled records.
      const all = await setsIn(set.zone, "", signal);
      if (all.kind !== "found") return { kind: "refused", because: all };
      const disabled = all.value.find(isNamed(set))?.records.filter(isDisabled) ?? [];
      return patch(set.zone, [wanted({ set, content, held }, disabled)], signal);
    },
    async remove(set, _, signal) {
      const all = await setsIn(set.zone, "", signal);
      if (all.kind !== "found") return { kind: "refused", because: all };
      const found = all.value.find(isNamed(set));
      const records = found?.records.filter(isDisabled) ?? [];
      const { name, type } = { name: ownerIn(set), type: set.type };
      const change =
        records.length === 0
          ? { name, type, changetype: "DELETE" }
          : { name, type, ttl: found?.ttl, changetype: "REPLACE", records };
      return patch(set.zone, [change], signal);
    },
    async readAll(sets, signal) {
      const all = await setsIn(sets[0]?.zone ?? "", "", signal);
      if (all.kind !== "found") return sets.map(() => all);
      const byName = new Map(all.value.map((each) => [`${each.name.toLowerCase()} ${each.type}`, each]));
      return sets.map((set) => {
        const held = byName.get(`${ownerIn(set)} ${set.type}`);
        if (!held) return { kind: "found", value: undefined };
        const [rest, shown] = [held.records.filter(isDisabled), held.records.filter((each) => !isDisabled(each))];
        return { kind: "found", value: { values: shown.map(({ content }) => content), ttl: held.ttl, rest } };
      });
    },
    writeAll: (changes, signal) =>
      patch(
        changes[0]?.set.zone ?? "",
        changes.map((change) => wanted(change, change.held?.rest ?? [])),
        signal,
      ),
    room: { of: () => 1, most: mostSets },
    async zones(signal) {
      const answer = await api.get(`${base}/zones`, signal);
      const found = listIn(answer, { service, key: "list", what: "zones", isItem: isZone });
      return mapFound(found, (zones) => zones.map(({ id, name }) => ({ id, name: askedZoneName(name) })));
    },
    async records(zone, signal) {
      return mapFound(await setsIn(zone, "", signal), (sets) =>
        sets.flatMap(({ name, type, ttl, records }) =>
          records.map(({ content }) => ({ name: listedName(name, zone), type, value: content, ttl })),
        ),
      );
    },
    close: () => client.close(),
  };
}

const ownerIn = ({ zone, name }: SetName) => `${absoluteName(name, zone)}.`;

const isNamed = (set: SetName) => (each: ReadableSet) =>
  each.type === set.type && each.name.toLowerCase() === ownerIn(set);

/** A set is replaced as a whole, including its disabled records. Without `comments`, they stay as they are. */
const wanted = ({ set, content: { value, ttl }, held }: SetChange<Disabled>, disabled: Disabled) => ({
  ...{ name: ownerIn(set), type: set.type, ttl: ttl ?? held?.ttl ?? usualTtl, changetype: "REPLACE" },
  records: [{ content: value, disabled: false }, ...disabled],
});

const isDisabled = ({ disabled }: ReadableSet["records"][number]) => disabled === true;

/** The disabled records of a set. */
type Disabled = ReadableSet["records"];

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
