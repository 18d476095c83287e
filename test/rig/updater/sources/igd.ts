import type { SourceRig } from "../source-suite.ts";
import { startUpnpPeer } from "./upnp-peer.ts";

/** A UPnP gateway at a known URL. test/updater/igd.test.ts has a real one, found by a search. */
export async function startIgd(): Promise<SourceRig> {
  const peer = await startUpnpPeer();
  return {
    ...peer,
    entry: (timeout) => `{ kind: igd, url: "${peer.url}/rootDesc.xml", timeout: ${timeout} }`,
    device: "internet",
    async say({ ipv4 }) {
      const [address = "", ...others] = ipv4;
      // A gateway reports only one address, and blanks around it are ignored in XML.
      if (others.length > 0 || address !== address.trim()) return false;
      await peer.recover();
      peer.values.set("GetExternalIPAddress", { NewExternalIPAddress: address });
      peer.notify();
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault("sends a page", { body: "<!doctype html><p>Login" }, /not (?:an answer|the description)/),
      peer.fault("sends nothing", {}, /not (?:an answer|the description)/),
      {
        title: "is offline",
        begin: () => void peer.values.set("GetExternalIPAddress", { NewExternalIPAddress: "" }),
        because: /no external address at the moment/,
      },
      {
        title: "refuses",
        begin: () => void peer.values.set("GetExternalIPAddress", 501),
        because: /refused to report its address: 501 Action Failed/,
      },
    ],
    // Nobody is notified that it restarted: the next read notices.
    hangUp() {
      peer.fail({ status: 503 });
      peer.notify();
    },
  };
}
