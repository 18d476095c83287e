const digits = "0123456789abcdefghijklmnopqrstuv";
/** Two digits each. */
const pairs = Array.from({ length: 1_024 }, (_, i) => `${digits[i >> 5]}${digits[i & 31]}`);

/** RFC 4648 section 7, without padding, in lower case. Its order is that of the bytes. */
export function base32hex(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (let i = 0; i < bytes.length; i++) {
    buffer = ((buffer << 8) | (bytes[i] ?? 0)) & 0x3_ffff;
    for (bits += 8; bits >= 10; bits -= 10) text += pairs[(buffer >> (bits - 10)) & 1_023];
  }
  if (bits >= 5) {
    bits -= 5;
    text += digits[(buffer >> bits) & 31];
  }
  return bits > 0 ? text + digits[(buffer << (5 - bits)) & 31] : text;
}

/** The code of the character for five bits. */
export function base32hexDigit(bytes: Uint8Array, firstBit: number): number {
  const at = firstBit >> 3;
  const word = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  return digits.charCodeAt((word >> (11 - (firstBit & 7))) & 31);
}

/**
 * The inverse, in any case; one character per byte. Undefined for other text, and for bits that are left over and not
 * zero.
 */
export function bytesOfBase32hex(text: string): string | undefined {
  let bytes = "";
  let buffer = 0;
  let bits = 0;
  for (const character of text.toLowerCase()) {
    const digit = digits.indexOf(character);
    if (digit < 0) return undefined;
    buffer = ((buffer << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes += String.fromCharCode((buffer >> bits) & 0xff);
  }
  return bits < 5 && (buffer & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
