import { mapping, usually } from "../../../lib/settings/mapping.ts";
import { duration } from "../../../lib/settings/setting.ts";
import { plainAddress } from "../../config/endpoint.ts";
import { onlyDevice, type SourceKind } from "../source.ts";
import type { FritzboxSource } from "./fritzbox-source.ts";

/** Its UPnP services report its addresses to everyone on the home network, so no login is needed. */
export const fritzbox = {
  ...mapping(
    {
      url: usually(plainAddress("The URL of the box.", "http://192.168.178.1:49000"), "http://fritz.box:49000"),
      timeout: usually(duration("How long one request may take.", "10s"), "5s"),
    },
    {
      title: "Source: fritzbox",
      description:
        "A FRITZ!Box: its IPv4 and IPv6 address, and the prefix of the network behind it. No password is needed.",
      schema: { examples: [{ kind: "fritzbox" }] },
    },
  ),
  only: onlyDevice,
  can: { push: true, prefix: true, lifetimes: true },
  // Loaded on first use, as for igd.
  open: async (config: FritzboxSource, connect, _wanted?: unknown, interval?: number) =>
    (await import("./fritzbox-source.ts")).createFritzboxSource(config, connect, interval),
} satisfies SourceKind<FritzboxSource>;
