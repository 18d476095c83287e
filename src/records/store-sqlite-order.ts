import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Order } from "./store.ts";

/**
 * Statements that differ by their order alone, each prepared when it is first asked for. The order's words come from the
 * code, never from a client; a field named again changes nothing, so their number is bounded.
 */
export function createOrdered<By extends string>(
  database: DatabaseSync,
  text: (order: readonly Order<By>[]) => string,
): (order: readonly Order<By>[]) => StatementSync {
  const known = new Map<string, StatementSync>();
  return (order) => {
    const distinct = order.filter(({ by }, i) => order.findIndex((each) => each.by === by) === i);
    const key = distinct.map(({ by, descending }) => `${by} ${descending}`).join();
    const statement = known.get(key) ?? database.prepare(text(distinct));
    known.set(key, statement);
    return statement;
  };
}
