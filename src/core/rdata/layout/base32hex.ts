const digits = "0123456789abcdefghijklmnopqrstuv";
/** Two digits each. */
const pairs = Array.from({ length: 1_024 }, (_, i) => `${digits[i >> 5]}${digits[i & 31]}`);

/** RFC 4648 section 7, without padding, in lower case. Its order is that of the bytes. */
export function base32hex(bytes: Uint8Array, length = bytes.length): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (let i = 0; i < length; i++) {
    held = ((held << 8) | (bytes[i] ?? 0)) & 0x3_ffff;
    for (bits += 8; bits >= 10; bits -= 10) text += pairs[(held >> (bits - 10)) & 1_023];
  }
  if (bits >= 5) {
    bits -= 5;
    text += digits[(held >> bits) & 31];
  }
  return bits > 0 ? text + digits[(held << (5 - bits)) & 31] : text;
}

/**
 * The inverse, in any case; one character per byte. Undefined for other text, and for bits that are left over and not
 * zero.
 */
export function bytesOfBase32hex(text: string): string | undefined {
  let bytes = "";
  let held = 0;
  let bits = 0;
  for (const character of text.toLowerCase()) {
    const digit = digits.indexOf(character);
    if (digit < 0) return undefined;
    held = ((held << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes += String.fromCharCode((held >> bits) & 0xff);
  }
  return bits < 5 && (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
