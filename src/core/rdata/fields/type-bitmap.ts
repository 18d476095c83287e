/** RFC 4034 section 4.1.2: 256 types per block, only as many bytes as needed. */
export function typeBitmap(types: Iterable<number>): Uint8Array<ArrayBuffer> {
  const blocks = new Map<number, Uint8Array>();
  for (const type of types) {
    const block = blocks.get(type >> 8) ?? new Uint8Array(32);
    blocks.set(type >> 8, block);
    const at = (type & 0xff) >> 3;
    block[at] = (block[at] ?? 0) | (0x80 >> (type & 7));
  }
  const parts = [...blocks].sort(([a], [b]) => a - b);
  return Uint8Array.from(
    parts.flatMap(([number, block]) => {
      const length = block.findLastIndex((byte) => byte !== 0) + 1;
      return [number, length, ...block.subarray(0, length)];
    }),
  );
}

/** Ascending. The bitmap is valid. */
export function typesInBitmap(bitmap: Uint8Array): readonly number[] {
  const types: number[] = [];
  for (let at = 0; at < bitmap.length; ) {
    const [block = 0, length = 0] = [bitmap[at], bitmap[at + 1]];
    types.push(...bitsOf(bitmap.subarray(at + 2, at + 2 + length)).map((bit) => block * 256 + bit));
    at += 2 + length;
  }
  return types;
}

/** The numbers of the bits that are set; bit 0 is the highest of the first byte. */
function bitsOf(bytes: Uint8Array): readonly number[] {
  const bits: number[] = [];
  for (const [at, byte] of bytes.entries())
    for (let bit = 0; bit < 8; bit++) if (byte & (0x80 >> bit)) bits.push(at * 8 + bit);
  return bits;
}
