import { realPause } from "../rig/real-pause.ts";
import type { Cluster, Node } from "./cluster.ts";

/** One failure, and its repair. */
export type Fault = { readonly name: string; readonly strike: (cluster: Cluster, node: Node) => Promise<void> };

export const faults: readonly Fault[] = [
  {
    name: "a node is killed, and started again",
    strike: async (_cluster, node) => {
      await node.kill();
      await node.start();
    },
  },
  {
    name: "the connections of a node are cut",
    strike: async (_cluster, { cable }) => cable.cut(),
  },
  {
    name: "every connection to the database is ended by the server",
    strike: async ({ server }) => {
      const client = await server.connect();
      await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
      await client.end();
    },
  },
  {
    name: "those who listen are cut off again and again while others write, so that notices are lost",
    strike: async ({ server }) => {
      const client = await server.connect();
      for (let i = 0; i < 10; i++) {
        // Idle connections, which listen or wait for the lead, only check that the server is there.
        const idle = `state = 'idle' AND query ILIKE ANY (ARRAY['SELECT 1%', 'LISTEN%', '%advisory%'])`;
        await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others} AND ${idle}`);
        await realPause(100, "sessions end one after the other");
      }
      await client.end();
    },
  },
  {
    name: "the network of a node goes silent, without a word to either side",
    strike: async (_cluster, { cable }) => {
      cable.silence();
      await realPause(2_500, "longer than a node waits for its database");
      cable.mend();
    },
  },
  {
    name: "a zone is locked, for longer than its writers wait",
    strike: async ({ server }) => {
      const client = await server.connect();
      await client.query("BEGIN; SELECT 1 FROM zones WHERE name = 'one.example' FOR UPDATE");
      await realPause(6_000, "longer than a write waits for a lock");
      await client.end();
    },
  },
  {
    name: "the database is restarted",
    strike: ({ server }) => server.restart("orderly"),
  },
  {
    name: "the database crashes and recovers",
    strike: ({ server }) => server.restart("crash"),
  },
];

const others = "backend_type = 'client backend' AND pid <> pg_backend_pid()";
