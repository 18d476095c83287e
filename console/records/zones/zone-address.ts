/** Where the pages of a zone are. Its name may have a stroke in it: 0/25.2.0.192.in-addr.arpa (RFC 2317). */
export const zoneAddress = (zone: string, part = ""): string =>
  `/zones/${encodeURIComponent(zone)}${part && `/${part}`}`;

/** The name in such an address, which people type too. */
export function zoneInAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
