import fc from "fast-check";

/**
 * Any character of Unicode, for `fc.string`. fast-check's own `unit: "binary"` is the same, but takes a second to
 * prepare.
 */
export const anyCharacter = fc
  .nat(0x10_ffff - 0x800)
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + 0x800));
