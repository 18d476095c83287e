/** No store takes as many calls at once as one request can need. */
const atOnce = 200;

/** What `call` gives for each of them, in their order; a part at a time. */
export async function inParts<Item, T>(
  items: readonly Item[],
  call: (item: Item) => Promise<T>,
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<readonly T[]> {
  const given: T[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await pause();
    given.push(...(await Promise.all(items.slice(from, from + atOnce).map(call))));
  }
  return given;
}
