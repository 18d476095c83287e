/**
 * A value as people read it: `"Gr\195\188\195\159e"` is `"Grüße"`. Escapes that are not valid UTF-8 stay, and so do
 * those of invisible characters.
 */
export const shownValue = (value: string): string =>
  value.includes("\\") ? value.replaceAll(/(?:\\[12]\d\d)+|\\\D/g, lettersOf) : value;

function lettersOf(escapes: string): string {
  const bytes = Uint8Array.from(escapes.matchAll(/\d{3}/g), ([digits]) => Number(digits));
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return /^[^\0-\x7f\p{C}\p{Z}]+$/u.test(text) ? text : escapes;
  } catch {
    return escapes;
  }
}
