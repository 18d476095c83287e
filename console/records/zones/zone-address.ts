/** The path of a zone's page. Its name may contain a slash: 0/25.2.0.192.in-addr.arpa (RFC 2317). */
export const zoneAddress = (zone: string, part = ""): string =>
  `/zones/${encodeURIComponent(zone)}${part && `/${part}`}`;

/** The name in such a path, which a user may also have typed. */
export function zoneInAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
