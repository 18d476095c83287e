import { join } from "node:path";
import { type Device, makeDevice } from "./device.ts";
import { type Door, type Gate, startGate, type Write } from "./gate.ts";
import { startMoor } from "./moor.ts";
import type { Namespace } from "./namespace.ts";
import { patience } from "./patience.ts";
import { openRecordsApi, type RecordsApi } from "./records-api.ts";
import { type Services, startServices } from "./services.ts";
import type { StartedProcess } from "./started-process.ts";
import { until } from "./until.ts";
import { makeUpdaterHome, type UpdaterHome, type UpdaterSettings } from "./updater-home.ts";

/** Shared by all names of a test. */
export type Harbour = {
  readonly inside: Namespace;
  readonly folder: string;
  readonly services: Services;
  readonly api: RecordsApi;
  readonly gate: Gate;
};

export async function openHarbour(
  inside: Namespace,
  folder: string,
  ports?: Parameters<typeof startServices>[2],
): Promise<Harbour> {
  const services = await startServices(inside, folder, ports);
  const api = openRecordsApi(inside, services, folder);
  return { inside, folder, services, api, gate: startGate(inside, services.data) };
}

/** One name with its own interface, zone and updater, so that it does not affect other names. */
export type WatchedName = {
  readonly device: Device;
  readonly firewall: Door;
  readonly records: Door;
  readonly home: UpdaterHome;
  readonly zoneId: string;
  readonly recordIds: Pair;
  /** Its first addresses, and those that a test gives it next. */
  readonly first: Pair;
  readonly second: Pair;
  /** The number of requests to the record service when the first addresses were stored. */
  askedAtFirst: number;
  updater: StartedProcess;
  /** Starts a new updater after the last one has ended. */
  restart(): void;
  move(to: Pair): Promise<void>;
  published(): Promise<Readonly<Record<string, string>>>;
  /** Waits until the updater has stored these. */
  stores(expected: Pair): Promise<void>;
};

export type Pair = { readonly A: string; readonly AAAA: string };

/** Ready when the first addresses are in the records and in the state file, each written once. */
export async function watchName(
  harbour: Harbour,
  number: number,
  overrides: Partial<UpdaterSettings> = {},
): Promise<WatchedName> {
  const { inside, services, api, gate } = harbour;
  const [name, zone] = ["home", `zone${number}.example`];
  const [first, second] = [1, 2].map((host) => ({ A: `9.9.${number}.${host}`, AAAA: `2a00:${number}::${host}` })) as [
    Pair,
    Pair,
  ];
  const zoneId = await api.makeZone(zone);
  const newRecord = { zone_id: zoneId, name, ttl: 60 };
  const recordIds = {
    A: await api.makeRecord({ ...newRecord, type: "A", value: "192.0.2.1" }),
    AAAA: await api.makeRecord({ ...newRecord, type: "AAAA", value: "2001:db8::1" }),
  };
  const device = await makeDevice(inside, `w${number}`);
  const move = (to: Pair) => device.readdress({ ipv4: to.A, ipv6: to.AAAA });
  await move(first);
  const firewall = await gate.open(`firewall ${number}`, services.firewall.url);
  const records = await gate.open(`records ${number}`, services.records.url);
  const { caFile, keyFile, tokenFile } = services;
  const home = makeUpdaterHome(join(harbour.folder, `name${number}`), {
    ...{ caFile, keyFile, tokenFile, zone, name },
    ...{ device: device.name, firewall: firewall.url, records: records.url },
    ...overrides,
  });
  const start = () => startMoor(inside, ["update", "--config", home.config]);
  const watched: WatchedName = {
    ...{ device, firewall, records, home, zoneId, recordIds, first, second },
    askedAtFirst: 0,
    updater: start(),
    restart: () => {
      watched.updater = start();
    },
    move,
    published: () => api.addresses(zoneId, name),
    // The longer a failure lasts, the longer the updater may wait before it retries.
    stores: (expected) =>
      until(() => same(home.stored(), expected), {
        ...{ limit: 2 * patience, what: () => `${JSON.stringify(expected)} in the state; ${watched.updater.err()}` },
      }),
  };
  await watched.stores(first);
  watched.askedAtFirst = (await records.asked()).length;
  return watched;
}

const same = (stored: Readonly<Record<string, string>>, { A, AAAA }: Pair) => stored.A === A && stored.AAAA === AAAA;

/** The two writes that a change of both addresses needs, and no more. */
export const accepted = ({ A, AAAA }: Pair): readonly Write[] => [
  { value: A, type: "A", status: 200 },
  { value: AAAA, type: "AAAA", status: 200 },
];
