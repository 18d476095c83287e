import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Cable, layCable } from "../../../test/rig/cable.ts";
import { type PostgresServer, startPostgres } from "../../../test/rig/postgres.ts";
import { realPause } from "../../../test/rig/real-pause.ts";
import { until } from "../../../test/rig/until.ts";
import type { Duties } from "../../process/duties.ts";
import { noLog } from "../../process/log.ts";
import { electLeader } from "./leader.ts";

let server: PostgresServer;
const cables: Cable[] = [];
const nodes: Duties[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await Promise.all(cables.splice(0).map((cable) => cable.close()));
});
afterAll(() => server.stop());

/** Nodes that note when they begin and end; `together` is the highest number that worked at the same time. */
async function startNodes(count: number) {
  const seen = { working: new Set<number>(), together: 0, ends: 0 };
  /** A node that reads its answers late, and how many it has received since. */
  const late = { node: -1, answers: 0 };
  for (let i = 0; i < count; i++) {
    const cable = await layCable(server.port);
    const connect = async () => {
      const client = await server.connect("postgres", cable.port);
      const query = client.query.bind(client);
      return Object.assign(client, {
        query: async (text: string) => {
          const answer = await query(text);
          if (late.node !== i) return answer;
          late.answers += 1;
          await realPause(1_400, "an answer that is read late");
          return answer;
        },
      }) as typeof client;
    };
    const node = electLeader({ connect, log: noLog });
    node.whenLeading(() => {
      seen.working.add(i);
      seen.together = Math.max(seen.together, seen.working.size);
      return () => {
        seen.working.delete(i);
        seen.ends += 1;
      };
    });
    cables.push(cable);
    nodes.push(node);
  }
  const leader = async (other?: number): Promise<number> => {
    const found = () => [...seen.working].find((node) => node !== other);
    await until(() => found() !== undefined, { what: () => `a node that leads, other than ${other}` });
    return found() ?? -1;
  };
  return { seen, leader, late };
}

describe("turns of nodes on one PostgreSQL", () => {
  it("let one node lead, and another after that one has closed", async () => {
    const { seen, leader } = await startNodes(3);
    const first = await leader();
    await nodes[first]?.close();
    await leader(first);
    expect(seen.together).toBe(1);
  });

  it("pass on the lead when the network of the leading node fails", async () => {
    const { seen, leader } = await startNodes(2);
    const first = await leader();
    cables[first]?.silence();
    const second = await leader(first);
    expect(seen.working).toEqual(new Set([second]));
    expect(seen.together).toBe(1);
  });

  it("never let two nodes lead, however late the leading one read its last answer", async () => {
    const { seen, leader, late } = await startNodes(2);
    const first = await leader();
    late.node = first;
    await until(() => late.answers > 0, { what: () => "an answer" });
    cables[first]?.silence();
    await leader(first);
    expect(seen.together).toBe(1);
  });

  it("pass on the lead when the server ends the session, and after a crash of the server", async () => {
    const { seen, leader } = await startNodes(2);
    /** On a slow machine, a turn may already have ended by its timeout. */
    const endsAfter = async (strike: () => Promise<unknown>) => {
      await leader();
      const before = seen.ends;
      await strike();
      await until(() => seen.ends > before, { what: () => "the end of a turn" });
      await leader();
    };
    const client = await server.connect();
    await endsAfter(() => client.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"));
    await client.end();
    await endsAfter(() => server.restart("crash"));
    expect(seen.together).toBe(1);
  });
});
