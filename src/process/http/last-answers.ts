import type { Server } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { cutAllConnections } from "./open-connections.ts";

/**
 * From now on every answer is the last on its connection. A proxy that keeps connections open has none left then into which it
 * could send a request just as they are closed.
 */
export function giveLastAnswers(server: Server): void {
  server.prependListener("request", (_, response) => {
    response.shouldKeepAlive = false;
  });
}

/** To be called before the server is closed: who waits for an answer has it first, within `limit` ms. Gives the way to end it. */
export function closeAsAnswered(server: Server, limit: number): () => void {
  giveLastAnswers(server);
  const often = setInterval(() => server.closeIdleConnections(), 10);
  const cut = setTimeout(() => cutAllConnections(server), limit);
  return () => {
    clearInterval(often);
    clearTimeout(cut);
  };
}

/** Longest time of a turn that counts as having nothing to do, in ms, and how many turns it may take to come to one. */
const [shortTurn, mostTurns] = [0.2, 200];

/**
 * When a server stops to listen, the system resets the connections that wait to be taken. Whoever stops it right behind a turn
 * in which it has just looked for them, and had nothing else to do, hardly meets one.
 */
export async function untilNobodyWaits(): Promise<void> {
  for (let i = 0; i < mostTurns; i++) {
    const begun = performance.now();
    await nextTurn();
    if (performance.now() - begun < shortTurn) return;
  }
}
