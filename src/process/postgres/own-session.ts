import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { poolerTodo } from "./refusals.ts";
import { endClient } from "./session.ts";

/**
 * With a transaction-mode pooler, the next client gets the locks and notifications of the previous one: two nodes would lead
 * at the same time, and none would learn of the others' writes. Such a pooler is found when one connection sees a setting of another.
 */
export async function expectOwnSession(client: Client, connect: () => Promise<Client>): Promise<void> {
  const other = await connect();
  try {
    const mine = await mark(client);
    // A pooler that rotates its sessions shows in the first query; one that reuses the last session shows after the other connection's query.
    const goesOn = (await markOn(client)) === mine;
    const others = await mark(other);
    if (goesOn && (await markOn(client)) === mine && (await markOn(other)) === others) return;
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
