import type { SourceRig } from "../source-suite.ts";
import { startUpnpPeer } from "./upnp-peer.ts";

/** The answers of a FRITZ!Box, as published by its users. */
export const startFritzboxPeer = () =>
  startUpnpPeer({
    ...{ friendlyName: "FRITZ!Box 7590", manufacturer: "AVM Berlin", location: "/igddesc.xml" },
    services: [["urn:schemas-upnp-org:service:WANIPConnection:1", "/igdupnp/control/WANIPConn1"]],
  });

export const noIpv6 = { NewPrefixLength: "0", NewValidLifetime: "0", NewPreferedLifetime: "0" };
const lasting = { NewPrefixLength: "64", NewValidLifetime: "6999", NewPreferedLifetime: "3399" };

export async function startFritzbox(): Promise<SourceRig> {
  const peer = await startFritzboxPeer();
  return {
    ...peer,
    entry: (timeout) => `{ kind: fritzbox, url: "${peer.url}", timeout: ${timeout} }`,
    device: "internet",
    async say({ ipv4, ipv6 }) {
      const texts = [...ipv4, ...ipv6];
      if (ipv4.length > 1 || ipv6.length > 1 || texts.some((text) => text !== text.trim() || text.includes("/")))
        return false;
      await peer.recover();
      const [own = ""] = ipv6;
      peer.values.set("GetExternalIPAddress", { NewExternalIPAddress: ipv4[0] ?? "" });
      const times = own === "" ? noIpv6 : lasting;
      peer.values.set("X_AVM_DE_GetExternalIPv6Address", { NewExternalIPv6Address: own, ...times });
      peer.values.set("X_AVM_DE_GetIPv6Prefix", { NewIPv6Prefix: "", ...noIpv6 });
      peer.notify();
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault("has UPnP switched off", { status: 404 }, /answered 404/),
      peer.fault("sends a page", { body: "<!doctype html><p>Login" }, /not (?:an answer|the description)/),
    ],
    hangUp() {
      peer.fail({ status: 503 });
      peer.notify();
    },
  };
}
