/** As few parts as possible, in the same order, none larger than `most` unless a single item is. */
export function batches<T>(all: readonly T[], sizeOf: (one: T) => number, most: number): readonly (readonly T[])[] {
  const parts: T[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const one of all) {
    size += sizeOf(one);
    if (size > most) {
      parts.push([]);
      size = sizeOf(one);
    }
    parts.at(-1)?.push(one);
  }
  return parts;
}
