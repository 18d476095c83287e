import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { poolerTodo } from "./refusals.ts";
import { endClient } from "./session.ts";

/**
 * Behind a pooler that shares its sessions between transactions, locks and notices are those of whoever comes next: two nodes would lead
 * at once, and none would hear of what another has written. It shows where one connection finds what another has set.
 */
export async function expectOwnSession(client: Client, connect: () => Promise<Client>): Promise<void> {
  const other = await connect();
  try {
    const mine = await mark(client);
    // Sessions that are given out in turn show at once, those of which the last is the next right behind the other connection.
    const goesOn = (await markOn(client)) === mine;
    const others = await mark(other);
    if (goesOn && (await markOn(client)) === mine && (await markOn(other)) === others) return;
  } finally {
    await endClient(other);
  }
  throw new Error(
    `a pooler stands between that shares its sessions, so that nodes would not hear of each other; ${poolerTodo}`,
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
