import { addressesIn, askOverUdp } from "../nameserver/ask-over-udp.ts";
import { realPause } from "../rig/real-pause.ts";
import { readEvents } from "../rig/records/event-reader.ts";
import { type Answer, type Api, openApi } from "./api.ts";
import type { Cluster, Node } from "./cluster.ts";
import {
  type ApiName,
  addressesOf,
  createWrittenNames,
  numberIn,
  type WrittenName,
  type WrittenNames,
  writeOf,
} from "./written-names.ts";

/** Mixed load on all nodes until it is stopped. Violations are added to `wrongs` as soon as they are seen. */
export type Storm = {
  readonly zones: readonly string[];
  readonly api: Api;
  readonly names: WrittenNames;
  readonly wrongs: readonly string[];
  readonly counts: Readonly<Record<"written" | "doubtful" | "read" | "asked", number>>;
  /** Owner and number of every change from the event stream, in order. */
  readonly told: ReadonlySet<string>;
  /** Stops writes, reads and DNS queries; the event stream continues until `close`. */
  readonly calm: () => Promise<void>;
  readonly close: () => Promise<void>;
};

type Weather = {
  readonly nodes: readonly Node[];
  readonly api: Api;
  readonly names: WrittenNames;
  readonly zoneIds: ReadonlyMap<string, string>;
  readonly counts: Record<"written" | "doubtful" | "read" | "asked", number>;
  readonly wrong: (what: string) => void;
  readonly over: AbortSignal;
};

export async function startStorm({ nodes, token }: Cluster): Promise<Storm> {
  const api = openApi(token);
  const zones = ["one.example", "two.example", "three.example"];
  const zoneIds = new Map<string, string>();
  for (const name of zones) zoneIds.set(name, await makeZone(api, nodes, name));
  const wrongs: string[] = [];
  const [weather, stream] = [new AbortController(), new AbortController()];
  const names = createWrittenNames(zones);
  const counts = { written: 0, doubtful: 0, read: 0, asked: 0 };
  const wrong = (what: string) => void (wrongs.length < 20 && wrongs.push(what));
  const outside: Weather = { nodes, api, names, zoneIds, counts, wrong, over: weather.signal };
  const told = new Set<string>();
  const listening = followEvents(outside, token, told, stream.signal);
  const working = [
    ...Array.from({ length: 4 }, () => keepWriting(outside, "rrsets")),
    ...Array.from({ length: 3 }, () => keepWriting(outside, "v1")),
    ...nodes.map((node) => keepReading(outside, node)),
    ...nodes.map((node) => keepAsking(outside, node)),
  ];
  return {
    ...{ zones, api, names, wrongs, counts, told },
    calm: async () => {
      weather.abort();
      await Promise.all(working);
    },
    close: async () => {
      weather.abort();
      stream.abort();
      await Promise.all([...working, listening]);
      await api.close();
    },
  };
}

async function makeZone(api: Api, [node]: readonly Node[], name: string): Promise<string> {
  if (node === undefined) throw new Error("no node");
  const made = await api.call(node, "POST", "/api/v1/zones", { name, ttl: 60 });
  if (made.status !== 200) throw new Error(`${name} could not be created: ${JSON.stringify(made)}`);
  return (made.body as { zone: { id: string } }).zone.id;
}

/**
 * One write after another to its own name, each at a random node. After a write with an unknown outcome it uses a new
 * name.
 */
async function keepWriting(weather: Weather, apiName: ApiName): Promise<void> {
  const { counts, wrong, names, over } = weather;
  const write = apiName === "rrsets" ? createSetWriter(weather) : createRecordWriter(weather);
  while (!over.aborted) {
    const name = names.next(apiName);
    while (!over.aborted && name.doubtful === undefined) {
      const number = name.answered + 1;
      name.doubtful = number;
      const { status, body } = await write(name, number);
      if (status >= 200 && status < 300) {
        [name.answered, name.doubtful] = [number, undefined];
        counts.written += 1;
      } else {
        counts.doubtful += 1;
        if (status >= 400 && status < 500) wrong(`${name.owner} ${number}: ${status} ${JSON.stringify(body)}`);
        await realPause(50, "a node that is down gets no flood");
      }
    }
  }
}

type Write = (name: WrittenName, number: number) => Promise<Answer>;

const createSetWriter =
  ({ api, nodes }: Weather): Write =>
  async ({ zone, owner }, number) => {
    const records = addressesOf(number).map((value) => ({ value }));
    const sets = `/v1/zones/${zone}/rrsets`;
    return number === 1
      ? await api.call(anyOf(nodes), "POST", sets, { name: owner, type: "A", records })
      : await api.call(anyOf(nodes), "POST", `${sets}/${owner}/A/actions/set_records`, { records });
  };

function createRecordWriter({ api, nodes, zoneIds }: Weather): Write {
  let id = "";
  return async ({ zone, owner }, number) => {
    const [value] = addressesOf(number);
    const record = { zone_id: zoneIds.get(zone), name: owner, type: "A", value, ttl: 60 };
    if (number > 1) return await api.call(anyOf(nodes), "PUT", `/api/v1/records/${id}`, record);
    const made = await api.call(anyOf(nodes), "POST", "/api/v1/records", record);
    if (made.status === 200) id = (made.body as { record: { id: string } }).record.id;
    return made;
  };
}

/** What one node returns for a name never goes back, over any API. */
function createWatch({ wrong }: Weather, node: Node, way: string) {
  const seen = new Map<string, number>();
  return (name: WrittenName, addresses: readonly string[]): void => {
    const number = numberIn(name.apiName, addresses);
    const before = seen.get(name.owner) ?? 0;
    if (number === "torn") wrong(`${node.name} ${way}: ${name.owner} is torn: ${addresses.join(" ")}`);
    else if ((number ?? 0) < before) wrong(`${node.name} ${way}: ${name.owner} went back from ${before} to ${number}`);
    else seen.set(name.owner, number ?? 0);
  };
}

async function keepReading(weather: Weather, node: Node): Promise<void> {
  const { api, names, over, counts } = weather;
  const watch = createWatch(weather, node, "API");
  while (!over.aborted) {
    const name = anyOf(names.all());
    const { status, body } = await api.call(node, "GET", `/v1/zones/${name.zone}/rrsets/${name.owner}/A`);
    if (status === 200) {
      counts.read += 1;
      const { records } = (body as { rrset: { records: readonly { value: string }[] } }).rrset;
      watch(
        name,
        records.map((record) => record.value),
      );
    }
    await realPause(status === 0 ? 50 : 5, "readers leave time for writers");
  }
}

async function keepAsking(weather: Weather, node: Node): Promise<void> {
  const { names, over, counts, wrong } = weather;
  const watch = createWatch(weather, node, "DNS");
  const serials = new Map<string, number>();
  while (!over.aborted) {
    const name = anyOf(names.all());
    const reply = await askOverUdp(node.dns, { name: `${name.owner}.${name.zone}`, type: 1 }, 500);
    if (reply !== undefined && (reply.rcode === 0 || reply.rcode === 3)) {
      counts.asked += 1;
      watch(name, addressesIn(reply));
    }
    const serial = serialIn(await askOverUdp(node.dns, { name: name.zone, type: 6 }, 500));
    const before = serials.get(name.zone) ?? 0;
    if (serial !== undefined && serial < before)
      wrong(`${node.name}: ${name.zone} went back from ${before} to ${serial}`);
    if (serial !== undefined) serials.set(name.zone, serial);
    await realPause(5, "readers leave time for writers");
  }
}

/** The five numbers of an SOA are its last 20 bytes. */
function serialIn(reply: Awaited<ReturnType<typeof askOverUdp>>): number | undefined {
  const data = reply?.answers.find((record) => record.type === 6)?.data;
  return data && Buffer.from(data).readUInt32BE(data.length - 20);
}

/**
 * One reader of the event stream, from the very beginning. When its node goes down, it resumes at another one after
 * the last event it received.
 */
async function followEvents(
  { nodes, wrong }: Weather,
  token: string,
  told: Set<string>,
  over: AbortSignal,
): Promise<void> {
  let last = 0;
  const authorization = `Bearer ${token}`;
  while (!over.aborted) {
    const node = anyOf(nodes);
    const asked = { authorization, "last-event-id": String(last) };
    const reader = await readEvents(`${node.url}/v1/events`, asked).catch(() => undefined);
    let taken = 0;
    while (reader !== undefined && !reader.ended() && !over.aborted) {
      for (const { data } of reader.events.slice(taken)) {
        if (data.id <= last) wrong(`${node.name} told event ${data.id} behind ${last}`);
        last = data.id;
        const records = data.after !== null && "records" in data.after ? data.after.records : [];
        if (data.type === "A") told.add(writeOf(String(data.name), records));
      }
      taken = reader.events.length;
      await realPause(20, "readers leave time for writers");
    }
    reader?.close();
    if (!over.aborted) await realPause(50, "a node that is down gets no flood");
  }
}

function anyOf<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("nothing to choose from");
  return item;
}
