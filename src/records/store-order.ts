import type { Order } from "./store.ts";

/** A field named again changes nothing. */
export const distinctFields = <By extends string>(order: readonly Order<By>[]): readonly Order<By>[] =>
  order.filter(({ by }, i) => order.findIndex((each) => each.by === by) === i);
