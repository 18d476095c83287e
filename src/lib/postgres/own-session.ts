import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { poolerTodo } from "./faults.ts";
import { endClient } from "./session.ts";

/**
 * A transaction-mode pooler hands a session, with its locks and LISTENs, to the next client: two nodes would lead at
 * the same time, and neither would be notified of the other's writes. Such a pooler shows when a connection loses a
 * setting of its session.
 */
export async function expectOwnSession(client: Client, connect: () => Promise<Client>): Promise<void> {
  const other = await connect();
  try {
    const mine = await mark(client);
    // A pooler that rotates its sessions shows in the next query; one that reuses the last session, after a query of
    // `other`.
    const isKept = (await markOn(client)) === mine;
    const others = await mark(other);
    if (isKept && (await markOn(client)) === mine && (await markOn(other)) === others) return;
  } finally {
    await endClient(other);
  }
  throw new Error(
    `connected through a transaction-mode pooler; nodes would miss each other's notifications; ${poolerTodo}`,
  );
}

async function mark(client: Client): Promise<string> {
  const text = randomUUID();
  await client.query("SELECT set_config('moor.session', $1, false)", [text]);
  return text;
}

async function markOn(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ mark: string | null }>("SELECT current_setting('moor.session', true) AS mark");
  return rows[0]?.mark ?? null;
}
