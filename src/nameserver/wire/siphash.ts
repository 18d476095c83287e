/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012) with a key of 16 bytes; the result has 8 bytes, the lowest first. 64-bit
 * numbers are pairs of 32-bit halves: `BigInt` takes some fifty times as long.
 */
export function sipHash24(key: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const keyView = viewOf(key);
  const [k0, k0High, k1, k1High] = [0, 4, 8, 12].map((at) => keyView.getUint32(at, true));
  // Low and high half of v0 to v3.
  const v = Uint32Array.of(
    0x70736575,
    0x736f6d65,
    0x6e646f6d,
    0x646f7261,
    0x6e657261,
    0x6c796765,
    0x79746573,
    0x74656462,
  );
  for (const [i, half] of [k0, k0High, k1, k1High, k0, k0High, k1, k1High].entries()) v[i] = (v[i] ?? 0) ^ (half ?? 0);
  const blocks = Math.floor(data.length / 8);
  const view = viewOf(data);
  for (let i = 0; i < blocks; i++) absorb(v, view.getUint32(8 * i, true), view.getUint32(8 * i + 4, true));
  const last = new DataView(new ArrayBuffer(8));
  for (let at = 8 * blocks; at < data.length; at++) last.setUint8(at & 7, data[at] ?? 0);
  last.setUint8(7, data.length & 0xff);
  absorb(v, last.getUint32(0, true), last.getUint32(4, true));
  v[4] = (v[4] ?? 0) ^ 0xff;
  for (let i = 0; i < 4; i++) round(v);
  last.setUint32(0, at32(v, 0) ^ at32(v, 2) ^ at32(v, 4) ^ at32(v, 6), true);
  last.setUint32(4, at32(v, 1) ^ at32(v, 3) ^ at32(v, 5) ^ at32(v, 7), true);
  return new Uint8Array(last.buffer);
}

function absorb(v: Uint32Array, low: number, high: number): void {
  v[6] = at32(v, 6) ^ low;
  v[7] = at32(v, 7) ^ high;
  round(v);
  round(v);
  v[0] = at32(v, 0) ^ low;
  v[1] = at32(v, 1) ^ high;
}

function round(v: Uint32Array): void {
  add(v, 0, 2);
  add(v, 4, 6);
  rotateAndMix(v, 2, 13, 0);
  rotateAndMix(v, 6, 16, 4);
  rotate(v, 0, 32);
  add(v, 4, 2);
  add(v, 0, 6);
  rotateAndMix(v, 2, 17, 4);
  rotateAndMix(v, 6, 21, 0);
  rotate(v, 4, 32);
}

function add(v: Uint32Array, to: number, from: number): void {
  const low = at32(v, to) + at32(v, from);
  v[to] = low;
  v[to + 1] = at32(v, to + 1) + at32(v, from + 1) + (low > 0xffff_ffff ? 1 : 0);
}

function rotateAndMix(v: Uint32Array, at: number, bits: number, from: number): void {
  rotate(v, at, bits);
  v[at] = at32(v, at) ^ at32(v, from);
  v[at + 1] = at32(v, at + 1) ^ at32(v, from + 1);
}

function rotate(v: Uint32Array, at: number, bits: number): void {
  const [low, high] = [at32(v, at), at32(v, at + 1)];
  if (bits === 32) {
    v[at] = high;
    v[at + 1] = low;
    return;
  }
  v[at] = (low << bits) | (high >>> (32 - bits));
  v[at + 1] = (high << bits) | (low >>> (32 - bits));
}

const at32 = (v: Uint32Array, at: number): number => v[at] ?? 0;
const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
