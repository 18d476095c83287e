import { crc32, deflateSync, inflateSync } from "node:zlib";

/**
 * Rewrites an 8-bit RGB or RGBA picture with a palette of 256 colours, which is about a third of the size. The most
 * frequent colours stay exact, and the others become the nearest of them: on our pages those are the edges of letters.
 */
export function smallerPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 256);
  const colours = palette.map(([colour]) => colour);
  const places = new Map(colours.map((colour, at) => [colour, at]));
  const placeOf = (colour: number): number => {
    const known = places.get(colour) ?? nearest(colour, colours);
    places.set(colour, known);
    return known;
  };
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = placeOf(pixels[y * width + x] ?? 0);
  const header = Buffer.from(png.subarray(16, 29));
  header[9] = 3;
  const table = Buffer.from(colours.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  const parts = [chunk("IHDR", header), chunk("PLTE", table), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([png.subarray(0, 8), ...parts]);
}

function nearest(colour: number, colours: readonly number[]): number {
  const distance = (other: number) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
  return colours.reduce((best, other, at) => (distance(other) < distance(colours[best] ?? 0) ? at : best), 0);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** The pixels as 0xRRGGBB. https://www.w3.org/TR/png-3/#9Filters */
function decode(png: Buffer): { readonly width: number; readonly height: number; readonly pixels: Uint32Array } {
  const [width, height, depth, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]];
  const size = kind === 6 ? 4 : 3;
  if (depth !== 8 || (kind !== 6 && kind !== 2)) throw new Error("the picture is not 8-bit RGB or RGBA");
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const [packed, line] = [inflateSync(Buffer.concat(data)), width * size];
  const bytes = Buffer.alloc(height * line);
  const pixels = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    const filter = packed[y * (line + 1)] ?? 0;
    for (let x = 0; x < line; x++) {
      const here = y * line + x;
      const left = x < size ? 0 : (bytes[here - size] ?? 0);
      const up = y === 0 ? 0 : (bytes[here - line] ?? 0);
      const corner = x < size || y === 0 ? 0 : (bytes[here - line - size] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      bytes[here] = (packed[y * (line + 1) + 1 + x] ?? 0) + guess;
    }
  }
  for (let i = 0; i < pixels.length; i++) pixels[i] = bytes.readUIntBE(i * size, 3);
  return { width, height, pixels };
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
