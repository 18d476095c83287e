import type { MaybeLater } from "../../../core/maybe-later.ts";

/** One request can need more calls than a store can take at the same time. */
const atOnce = 200;

/** The results of `call` for all items, in order, with a limited number of calls at a time. */
export async function mapInParts<Item, T>(
  items: readonly Item[],
  call: (item: Item) => MaybeLater<T>,
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<readonly T[]> {
  const outputs: T[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await pause();
    outputs.push(...(await Promise.all(items.slice(from, from + atOnce).map(call))));
  }
  return outputs;
}
