import { printable } from "../../../core/visible-text.ts";
import { findElement, findElements, readXml, textOf } from "../../../lib/http-client/xml.ts";

/** What an Internet gateway says about itself. */
export type Gateway = {
  /** For display, such as "FRITZ!Box 7590". */
  readonly name: string;
  readonly manufacturer: string;
  readonly connections: readonly WanConnection[];
};

/** A service that knows the external address. */
export type WanConnection = { readonly service: string; readonly control: URL; readonly events?: URL | undefined };

const wanService = /^urn:schemas-upnp-org:service:WAN(?:IP|PPP)Connection:[12]$/;
/** More than any router has. */
const most = 8;

/** Undefined if this is not the description of a device. One without such a connection has an empty list. */
export function readDescription(text: string, location: URL): Gateway | undefined {
  const root = readXml(text);
  const device = root && findElement(root, "device");
  if (!root || !device) return undefined;
  const base = textOf(root, "URLBase");
  const urlOf = (written: string | undefined) => (written ? urlOn(location, written, base) : undefined);
  const connections = findElements(root, "service").flatMap((each): readonly WanConnection[] => {
    const [service, control] = [textOf(each, "serviceType") ?? "", urlOf(textOf(each, "controlURL"))];
    const events = urlOf(textOf(each, "eventSubURL"));
    return wanService.test(service) && control ? [{ service, control, events }] : [];
  });
  return {
    name: printable(textOf(device, "friendlyName") || textOf(device, "modelName") || "a gateway without a name"),
    manufacturer: printable(textOf(device, "manufacturer") ?? ""),
    connections: connections.slice(0, most),
  };
}

/**
 * A URL in a description, always on the host that sent it: a router must not make us contact another machine, and some
 * send a wrong `URLBase`. The port may differ.
 */
function urlOn(location: URL, written: string, base: string | undefined): URL | undefined {
  const from = base && URL.canParse(base) ? base : location.href;
  if (!URL.canParse(written, from)) return undefined;
  const { protocol, port, pathname, search } = new URL(written, from);
  if (protocol !== "http:") return undefined;
  const url = new URL(location.href);
  url.port = port;
  url.pathname = pathname;
  url.search = search;
  url.hash = "";
  return url;
}
