import { parseIpv4 } from "../../../core/addresses/address.ts";
import { mapping, usually } from "../../../lib/settings/mapping.ts";
import { choice, duration, integer, refined, text } from "../../../lib/settings/setting.ts";
import { plainAddress } from "../../config/endpoint.ts";
import { onlyDevice, type SourceKind } from "../source.ts";
import type { IgdSource, Protocol } from "./igd-source.ts";

const protocols: readonly Protocol[] = ["upnp", "nat-pmp", "pcp"];

/** A router that opens ports on request: UPnP IGD, NAT-PMP or PCP. It knows its external IPv4 address. */
export const igd = {
  ...mapping(
    {
      gateway: refined(
        text("The IPv4 address of the router. Default: the router that this machine uses.", "192.168.1.1"),
        (written, { what, fault }) =>
          parseIpv4(written)?.text ??
          fault({ code: "bad-address", message: `${what} is not an IPv4 address`, todo: "write it like 192.168.1.1" }),
      ),
      url: plainAddress(
        "The URL of the router's UPnP description, if the router does not answer a search.",
        "http://192.168.1.1:5000/rootDesc.xml",
      ),
      protocol: choice(protocols, "Use only this protocol. Default: the first one that the router answers."),
      eventPort: integer(
        { from: 1, to: 65_535 },
        "The TCP port of this machine to which the router sends its changes, to be opened in this machine's firewall. Default: any free one.",
        49_152,
      ),
      timeout: usually(duration("How long one request may take.", "10s"), "5s"),
    },
    {
      title: "Source: igd",
      description:
        "A router that supports UPnP IGD, NAT-PMP or PCP. No password is needed. It reports only an IPv4 address.",
      schema: { examples: [{ kind: "igd" }] },
      checkKeys: (presentKeys, what) =>
        presentKeys.includes("url") && presentKeys.includes("gateway")
          ? [
              {
                code: "two-gateways",
                message: `${what} has url and gateway`,
                at: "gateway",
                skip: ["gateway"],
                todo: "keep one: the URL contains the address",
              },
            ]
          : [],
    },
  ),
  only: onlyDevice,
  families: ["ipv4"],
  can: { push: true, prefix: false, lifetimes: false },
  // Loaded on first use: most updaters need no UDP sockets.
  open: async (config: IgdSource, connect, _wanted?: unknown, interval?: number) =>
    (await import("./igd-source.ts")).createIgdSource(config, connect, interval),
} satisfies SourceKind<IgdSource>;
