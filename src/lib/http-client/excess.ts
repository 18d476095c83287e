/** By its code, `transport-faults.ts` describes it. */
export const fault = (code: string, message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { code });

/**
 * Parts with less than `smallPart` bytes on average. Each takes a hundred times its size: 4 MiB of single bytes would
 * take a gigabyte. Small devices send their answers in some thousands of parts.
 */
export const mostSmallParts = 20_000;
const smallPart = 16;

/** Why no more of an answer is read. */
export function excessOf(parts: number, size: number, longest: number): Error | undefined {
  if (size > longest) return fault("MOOR_TOO_LONG", "the answer is too long");
  if (parts > mostSmallParts && size < parts * smallPart) return fault("MOOR_TINY_PARTS", "the parts are too small");
  return undefined;
}
