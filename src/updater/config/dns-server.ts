import { parseAddress } from "../../core/addresses/address.ts";
import { refined, text } from "../../lib/settings/setting.ts";

/** `192.0.2.53`, `192.0.2.54:5353` or `[2001:db8::53]:53`. */
export const dnsServer = refined(
  text("An address, with a port if it is not 53.", "192.0.2.53"),
  (server, { fault }) => {
    const { host, port } = partsOfServer(server);
    if (parseAddress(host) && Number(port) >= 1 && Number(port) <= 65_535) return server;
    const todo = "write 192.0.2.53 or [2001:db8::53]:53";
    return fault({ code: "bad-server", message: `${server} is not an IP address`, todo });
  },
);

/** The address and the port. */
export function partsOfServer(server: string): { readonly host: string; readonly port: string } {
  const [, host = server, port = "53"] =
    /^\[(.*)\](?::(\d{1,5}))?$/.exec(server) ?? /^(\d[\d.]*):(\d{1,5})$/.exec(server) ?? [];
  return { host, port };
}
