import type { ParentView } from "../../core/dnssec/lifecycle.ts";
import { askUdp, type Peer } from "./ask.ts";
import { classes, opcodes, rcodes, types } from "./codes.ts";
import { type DnsTools, serversAbove, systemDns } from "./find-delegation.ts";

export type AskParent = (zone: string, signal: AbortSignal) => Promise<ParentView>;

const limit = 5_000;
const mostServers = 8;

/**
 * The DS records of a zone, from the servers of its parent themselves, because a resolver may have older ones. Undefined if a server
 * does not answer, or if they differ. `servers`: asked instead of those that DNS names.
 */
export const createAskParent =
  (servers: readonly Peer[] = [], tools: DnsTools = systemDns()): AskParent =>
  async (zone, signal) => {
    try {
      const asked = servers.length > 0 ? servers : await peersAbove(zone, tools);
      const views = await Promise.all(asked.map((server) => dsFrom(server, zone, signal)));
      const [first] = views;
      return first !== undefined && views.every((view) => sameDs(view, first)) ? first : undefined;
    } catch {
      return undefined;
    }
  };

/** One address of each server. */
async function peersAbove(zone: string, tools: DnsTools): Promise<readonly Peer[]> {
  const servers = await serversAbove(zone, tools);
  const found = await Promise.all(servers.slice(0, mostServers).map((server) => tools.addressesOf(server)));
  return found.flatMap((addresses) => {
    const host = addresses.find(tools.mayAsk);
    return host === undefined ? [] : [{ host, port: 53, key: undefined }];
  });
}

async function dsFrom(server: Peer, zone: string, signal: AbortSignal): Promise<ParentView> {
  const asking = { opcode: opcodes.query, question: { name: zone, type: types.ds, class: classes.in } };
  const { rcode, truncated, authoritative, answers } = await askUdp(server, asking, { signal, limit, now: Date.now });
  if (rcode !== rcodes.noError || truncated || !authoritative) return undefined;
  const found = answers.filter(({ name, type }) => name === zone && type === types.ds);
  const ds = found.map(({ data }) => ({ tag: ((data[0] ?? 0) << 8) | (data[1] ?? 0), algorithm: data[2] ?? 0 }));
  return { ds: ds.sort((a, b) => a.tag - b.tag), ttl: found[0]?.ttl ?? 0 };
}

const sameDs = (a: ParentView, b: NonNullable<ParentView>): boolean =>
  a !== undefined &&
  a.ds.length === b.ds.length &&
  a.ds.every(({ tag, algorithm }, i) => tag === b.ds[i]?.tag && algorithm === b.ds[i]?.algorithm);
