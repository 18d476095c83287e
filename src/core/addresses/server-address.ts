/**
 * A nameserver: `192.0.2.53`, `ns1.example.org`, `192.0.2.54:5353`, `2001:db8::53` or `[2001:db8::53]:5353`. Without a
 * port it is 53.
 */
export function parseServer(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, ipv6, name, digits = "53"] =
    /^(?:\[([0-9a-f:.]+)\]|([^[\]:\s/]+))(?::(\d{1,5}))?$/i.exec(text) ?? /^([0-9a-f:.]+)$/i.exec(text) ?? [];
  const host = ipv6 ?? name ?? "";
  const port = Number(digits);
  return host !== "" && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}
