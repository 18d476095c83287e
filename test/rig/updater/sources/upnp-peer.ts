import { request } from "node:http";
import { type Answer, type HttpPeer, startHttpPeer } from "./http-peer.ts";

/** A UPnP gateway on loopback. */
export type UpnpPeer = HttpPeer & {
  /** The answers to its actions; a number is the code of a refusal. */
  readonly values: Map<string, Values | number>;
  /** Sends an event to every subscriber. */
  notify(): void;
  readonly subscribers: Map<string, string>;
};

export type Values = Readonly<Record<string, string>>;

export type UpnpShape = {
  readonly friendlyName?: string;
  readonly manufacturer?: string;
  readonly location?: string;
  /** Service types, each with a control URL; the first one has events. */
  readonly services?: readonly (readonly [type: string, control: string])[];
  readonly more?: string;
};

export const wanIp = "urn:schemas-upnp-org:service:WANIPConnection:1";
export const wanPpp = "urn:schemas-upnp-org:service:WANPPPConnection:1";

export async function startUpnpPeer(shape: UpnpShape = {}): Promise<UpnpPeer> {
  const { location = "/rootDesc.xml", services = [[wanIp, "/ctl/IPConn"]] } = shape;
  const values = new Map<string, Values | number>();
  const subscribers = new Map<string, string>();
  let number = 0;
  const notify = (sid: string, callback: string) => {
    const headers = { nt: "upnp:event", nts: "upnp:propchange", sid, seq: "0", "content-type": "text/xml" };
    const sent = request(callback, { method: "NOTIFY", headers }, (response) => response.resume());
    sent.on("error", () => undefined);
    sent.end('<e:propertyset xmlns:e="urn:schemas-upnp-org:event-1-0"/>');
  };
  const subscribe = ({ callback, sid }: Readonly<Record<string, unknown>>): Answer => {
    if (typeof sid === "string") return { status: subscribers.has(sid) ? 200 : 412, headers: { sid } };
    const [id, to] = [`uuid:${++number}`, /<(.*)>/.exec(String(callback))?.[1] ?? ""];
    subscribers.set(id, to);
    // The first event comes after the answer.
    setTimeout(() => notify(id, to), 10);
    return { headers: { sid: id, timeout: "Second-300" } };
  };
  const peer = await startHttpPeer(({ method, path, headers }) => {
    if (method === "GET" && path === location) return { body: description(shape, services) };
    if (method === "SUBSCRIBE") return subscribe(headers);
    if (method === "UNSUBSCRIBE") return { status: subscribers.delete(String(headers.sid)) ? 200 : 412 };
    const [, type, action = ""] = /^"(.*)#(.*)"$/.exec(String(headers.soapaction)) ?? [];
    const isRight = method === "POST" && services.some(([known, control]) => known === type && control === path);
    const value = values.get(`${path} ${action}`) ?? values.get(action);
    if (!isRight || value === undefined) return { status: 404 };
    return typeof value === "number" ? refusal(value) : { body: envelope(answerOf(action, type ?? "", value)) };
  });
  return {
    ...peer,
    values,
    subscribers,
    notify() {
      for (const [sid, callback] of subscribers) notify(sid, callback);
    },
  };
}

const description = (
  { friendlyName = "Test router", manufacturer = "Nobody", more = "" }: UpnpShape,
  services: NonNullable<UpnpShape["services"]>,
) =>
  `<?xml version="1.0"?>
<root xmlns="urn:schemas-upnp-org:device-1-0">${more}
<device><deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType>
<friendlyName>${friendlyName}</friendlyName><manufacturer>${manufacturer}</manufacturer>
<deviceList><device><deviceType>urn:schemas-upnp-org:device:WANDevice:1</deviceType><deviceList><device><serviceList>
${services
  .map(
    ([type, control], index) =>
      `<service><serviceType>${type}</serviceType><controlURL>${control}</controlURL>` +
      `<eventSubURL>${index === 0 ? "/evt/IPConn" : ""}</eventSubURL></service>`,
  )
  .join("\n")}
</serviceList></device></deviceList></device></deviceList></device></root>`;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const answerOf = (action: string, type: string, values: Values) =>
  `<u:${action}Response xmlns:u="${type}">\n${Object.entries(values)
    .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
    .join("\n")}\n</u:${action}Response>`;

const envelope = (body: string) =>
  '<?xml version="1.0"?>\n<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" ' +
  `s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/">\n<s:Body>\n${body}\n</s:Body>\n</s:Envelope>`;

const names: Readonly<Record<number, string>> = {
  401: "Invalid Action",
  501: "Action Failed",
  606: "Action not authorized",
};

const refusal = (code: number): Answer => ({
  status: 500,
  body: envelope(
    "<s:Fault><faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring><detail>" +
      `<UPnPError xmlns="urn:schemas-upnp-org:control-1-0"><errorCode>${code}</errorCode>` +
      `<errorDescription>${names[code] ?? ""}</errorDescription></UPnPError></detail></s:Fault>`,
  ),
});
