import { Resolver } from "node:dns/promises";
import type { ParentView } from "../../core/dnssec/lifecycle.ts";
import { enclosing } from "../../core/names/name.ts";
import { askUdp, type Peer } from "./ask.ts";
import { classes, opcodes, rcodes, types } from "./codes.ts";

export type AskParent = (zone: string, signal: AbortSignal) => Promise<ParentView>;

const limit = 5_000;
const mostServers = 8;

/**
 * The DS records of a zone, from the servers of its parent themselves, because a resolver may have older ones. Undefined if a server
 * does not answer, or if they differ. `servers`: asked instead of those that DNS names.
 */
export const createAskParent =
  (servers: readonly Peer[] = []): AskParent =>
  async (zone, signal) => {
    try {
      const asked = servers.length > 0 ? servers : await serversAbove(zone);
      const views = await Promise.all(asked.map((server) => dsFrom(server, zone, signal)));
      const [first] = views;
      return first !== undefined && views.every((view) => sameDs(view, first)) ? first : undefined;
    } catch {
      return undefined;
    }
  };

/** The parent is the closest zone above, which may be more than one label away. */
async function serversAbove(zone: string): Promise<readonly Peer[]> {
  const resolver = new Resolver({ timeout: limit, tries: 2 });
  for (const above of enclosing(zone).slice(1)) {
    const names = await resolver.resolveNs(above).catch(() => []);
    if (names.length === 0) continue;
    const found = await Promise.all(
      names.map(async (name) => {
        const both = [resolver.resolve4(name), resolver.resolve6(name)].map((each) => each.catch(() => []));
        return (await Promise.all(both)).flat()[0];
      }),
    );
    return found
      .filter((host) => host !== undefined)
      .slice(0, mostServers)
      .map((host) => ({ host, port: 53, key: undefined }));
  }
  return [];
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
