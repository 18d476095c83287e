/** Items per part, which takes about a millisecond. */
const partSize = 2_000;

/** Like `flatMap`; the items of a large zone are mapped in parts, with `pause` between them. */
export async function flatMapInParts<Item, T>(
  items: readonly Item[],
  transform: (item: Item) => readonly T[],
  pause: () => Promise<void>,
): Promise<readonly T[]> {
  if (items.length <= partSize) return items.flatMap(transform);
  const results: T[] = [];
  for (let from = 0; from < items.length; from += partSize) {
    if (from > 0) await pause();
    for (const item of items.slice(from, from + partSize)) results.push(...transform(item));
  }
  return results;
}
