import { type Asked, askOverTcp } from "../nameserver/ask-over-tcp.ts";
import { addressesIn } from "../nameserver/ask-over-udp.ts";
import type { Api } from "./api.ts";
import type { Cluster, Node } from "./cluster.ts";
import { isRight, numberIn, type WrittenName } from "./written-names.ts";

/** What one node returns for every name, over both APIs and DNS. */
type Shown = ReadonlyMap<WrittenName, Readonly<Record<"rrsets" | "v1" | "dns", string>>>;

/** Everything that is wrong now: nodes that differ, and names with values that no answered write explains. */
export async function disagreements(
  { nodes }: Cluster,
  api: Api,
  names: readonly WrittenName[],
): Promise<readonly string[]> {
  const zones = [...new Set(names.map((name) => name.zone))];
  const shown = await Promise.all(nodes.map((node) => whatIsShown(node, api, zones, names)));
  return names.flatMap((name) => {
    const ways = shown.flatMap((each, i) =>
      Object.entries(each.get(name) ?? {}).map(([way, text]) => ({ at: `${nodes[i]?.name} ${way}`, text })),
    );
    const told = ways.map(({ at, text }) => `${at}: ${text || "nothing"}`).join("; ");
    if (new Set(ways.map(({ text }) => text)).size !== 1) return [`${name.owner} differs: ${told}`];
    const addresses = ways[0]?.text.split(" ").filter(Boolean) ?? [];
    const number = numberIn(name.apiName, addresses);
    if (isRight(name, number)) return [];
    return [`${name.owner} shows ${number}, answered was ${name.answered}, in doubt ${name.doubtful}`];
  });
}

async function whatIsShown(
  node: Node,
  api: Api,
  zones: readonly string[],
  names: readonly WrittenName[],
): Promise<Shown> {
  const questions: readonly Asked[] = names.map(({ owner, zone }) => ({ name: `${owner}.${zone}`, type: 1 }));
  const [replies, rrsets, v1] = await Promise.all([
    askOverTcp(node.dns, questions).catch(() => []),
    byName(zones, (zone) => rrsetsOf(node, api, zone)),
    byName(zones, (zone) => recordsOf(node, api, zone)),
  ]);
  return new Map(
    names.map((name, i) => [
      name,
      {
        rrsets: (rrsets.get(`${name.owner} ${name.zone}`) ?? []).toSorted().join(" "),
        v1: (v1.get(`${name.owner} ${name.zone}`) ?? []).toSorted().join(" "),
        dns: addressesIn(replies[i]).toSorted().join(" "),
      },
    ]),
  );
}

type Value = { readonly name: string; readonly value: string };

async function byName(zones: readonly string[], read: (zone: string) => Promise<readonly Value[]>) {
  const found = new Map<string, string[]>();
  for (const zone of zones)
    for (const { name, value } of await read(zone))
      found.set(`${name} ${zone}`, [...(found.get(`${name} ${zone}`) ?? []), value]);
  return found;
}

const perPage = 50;

async function rrsetsOf(node: Node, api: Api, zone: string): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let page = 1; ; page++) {
    const path = `/v1/zones/${zone}/rrsets?type=A&page=${page}&per_page=${perPage}`;
    const { rrsets = [] } = ((await api.call(node, "GET", path)).body ?? {}) as { rrsets?: readonly ListedSet[] };
    for (const set of rrsets) values.push(...set.records.map(({ value }) => ({ name: set.name, value })));
    if (rrsets.length < perPage) return values;
  }
}

async function recordsOf(node: Node, api: Api, zone: string): Promise<readonly Value[]> {
  const zones = ((await api.call(node, "GET", `/api/v1/zones?name=${zone}`)).body ?? {}) as {
    zones?: { id: string }[];
  };
  const id = zones.zones?.[0]?.id;
  const { body } = await api.call(node, "GET", `/api/v1/records?zone_id=${id}&per_page=10000`);
  const { records = [] } = (body ?? {}) as { records?: readonly (Value & { type: string })[] };
  return records.filter((record) => record.type === "A");
}

type ListedSet = { readonly name: string; readonly records: readonly { readonly value: string }[] };
