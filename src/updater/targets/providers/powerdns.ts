import { isObject } from "../../../core/is-object.ts";
import { absoluteName, askedZoneName } from "../../../core/names/name.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { isNumber, isText, openJsonApi, parseAny } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import { type Body, type Dialect, errorIn, noZone, unexpected } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import type { WriteAnswer } from "../../../providers/answers/write-answer.ts";
import { LastStep } from "../../../providers/last-step.ts";
import type { SetName } from "../../../providers/provider-calls.ts";
import { spacedHeaderSecret } from "../../config/secret.ts";
import { listedName } from "../set-target.ts";
import type { TargetKind } from "../target.ts";
import { type TokenTarget, tokenSettings } from "../token-target.ts";
import { createZoneTarget, type SetChange, type ZoneCalls } from "../zone-target.ts";

export const powerdns = {
  ...tokenSettings(
    "Target: powerdns",
    "The HTTP API of a PowerDNS Authoritative Server. `token` is its `api-key`. Comments and disabled records are kept.",
    "https://pdns.example.org",
    spacedHeaderSecret,
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

  /** All or nothing, with a new serial if PowerDNS would keep the old one. `sets`: those of the whole zone, just read, or its SOA. */
  const patch = async (
    zone: string,
    changes: readonly object[],
    sets: readonly ReadableSet[],
    signal: AbortSignal,
  ): Promise<WriteAnswer<undefined>> => {
    const soa = zoneFacts.get(zone)?.keepsSerial ? sets.find(({ type }) => type === "SOA") : undefined;
    const rrsets = soa ? [...changes, withNextSerial(soa)] : changes;
    const written = await api.send("PATCH", pathOf(zone), { rrsets }, [200, 204], signal);
    return written.kind === "accepted" ? { kind: "accepted", value: undefined } : written;
  };
  /** A set is replaced as a whole, and only a read of the whole zone shows its disabled records. */
  const patchOne = (set: SetName, signal: AbortSignal, changeOf: (found: ReadableSet | undefined) => object) =>
    inTurn(set.zone, async (): Promise<WriteAnswer<undefined>> => {
      const all = await setsIn(set.zone, "", signal);
      if (all.kind !== "found") return { kind: "refused", because: all };
      return patch(set.zone, [changeOf(all.value.find(isNamed(set)))], all.value, signal);
    });

  const notify = async (zone: string, signal: AbortSignal): Promise<WriteAnswer<unknown>> => {
    if (!zoneFacts.get(zone)?.isPrimary) return { kind: "accepted", value: undefined };
    const sent = await api.send("PUT", `${pathOf(zone)}/notify`, {}, [200], signal);
    // It refuses if there is nobody to notify.
    return sent.kind === "refused" ? { kind: "accepted", value: undefined } : sent;
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
    write: (set, content, held, signal) =>
      patchOne(set, signal, (found) => wanted({ set, content, held }, found?.records.filter(isDisabled) ?? [])),
    remove: (set, _, signal) =>
      patchOne(set, signal, (found) => {
        const records = found?.records.filter(isDisabled) ?? [];
        const { name, type } = { name: ownerIn(set), type: set.type };
        if (records.length === 0) return { name, type, changetype: "DELETE" };
        return { name, type, ttl: found?.ttl, changetype: "REPLACE", records };
      }),
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
    writeAll(changes, signal) {
      const zone = changes[0]?.set.zone ?? "";
      const sets = changes.map((change) => wanted(change, change.held?.rest ?? []));
      return inTurn(zone, async () => {
        if (!zoneFacts.get(zone)?.keepsSerial) return patch(zone, sets, [], signal);
        const soa = await setsIn(zone, `?rrset_name=${encodeURIComponent(`${zone}.`)}&rrset_type=SOA`, signal);
        return soa.kind === "found" ? patch(zone, sets, soa.value, signal) : { kind: "refused", because: soa };
      });
    },
    room: { of: () => 1, most: mostSets },
    lastStep: new LastStep(service, notify),
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
const wanted = ({ set, content: { value, ttl }, held }: SetChange<Disabled>, disabled: Disabled) => ({
  name: ownerIn(set),
  type: set.type,
  ttl: ttl ?? held?.ttl ?? usualTtl,
  changetype: "REPLACE",
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
