import { request } from "node:http";
import { type Answer, type HttpPeer, startHttpPeer } from "./http-peer.ts";

/**
 * A UPnP gateway on loopback, as miniupnpd answers (https://github.com/miniupnp/miniupnp, upnphttp.c, upnpsoap.c,
 * upnpevents.c and upnpdescgen.c). It closes every connection. `test/updater/igd.test.ts` has the real one.
 */
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
  const sent = new Map<string, number>();
  const notify = (sid: string, callback: string) => {
    const seq = sent.get(sid) ?? 0;
    sent.set(sid, seq + 1);
    const kind = { nt: "upnp:event", nts: "upnp:propchange", sid, seq: String(seq) };
    const headers = { ...kind, "content-type": "text/xml", "cache-control": "no-cache", connection: "close" };
    const event = request(callback, { method: "NOTIFY", headers }, (response) => response.resume());
    event.on("error", () => undefined);
    event.end(propertySet(values.get("GetExternalIPAddress")));
  };
  const subscribe = ({ callback, sid, nt, timeout }: Headers): Answer => {
    const granted = { timeout: timeout ?? "Second-infinite" };
    if (sid !== undefined) {
      if (callback !== undefined || nt !== undefined) return { status: 400 };
      return subscribers.has(sid) ? { headers: { sid, ...granted } } : { status: 412 };
    }
    // The callback must be at the address that the request came from.
    const to = /^<(http:\/\/127\.0\.0\.1[:/].*)>$/.exec(callback ?? "")?.[1];
    if (to === undefined || nt !== "upnp:event") return { status: 412 };
    const id = `uuid:${String(++number).padStart(8, "0")}-0000-4000-8000-000000000000`;
    subscribers.set(id, to);
    // The first event comes after the answer.
    setTimeout(() => notify(id, to), 10);
    return { headers: { sid: id, ...granted } };
  };
  const unsubscribe = ({ callback, sid, nt }: Headers): Answer => {
    if (sid !== undefined && (callback !== undefined || nt !== undefined)) return { status: 400 };
    return { status: subscribers.delete(sid ?? "") ? 200 : 412 };
  };
  const peer = await startHttpPeer(({ method, path, headers }) => {
    if (method === "GET" && path === location) return { headers: xml, body: description(shape, services) };
    if (method === "SUBSCRIBE") return subscribe(headers as Headers);
    if (method === "UNSUBSCRIBE") return unsubscribe(headers as Headers);
    const service = services.find(([, control]) => control === path);
    if (!service) return notFound;
    if (method !== "POST") return { status: method === "GET" ? 405 : 501, headers: { allow: "POST" } };
    if (headers.soapaction === undefined) return { status: 400, body: "<html><body>Bad request</body></html>" };
    const [, type, action = ""] = /^"(.*)#(.*)"$/.exec(String(headers.soapaction)) ?? [];
    const value = values.get(`${path} ${action}`) ?? values.get(action);
    if (type !== service[0] || value === undefined) return refusal(401);
    if (typeof value === "number") return refusal(value);
    return { headers: xml, body: envelope(answerOf(action, type, value)) };
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

type Headers = Readonly<Partial<Record<"callback" | "sid" | "nt" | "timeout", string>>>;

const xml = { "content-type": 'text/xml; charset="utf-8"', connection: "close", ext: "" };

const notFound: Answer = {
  status: 404,
  headers: { "content-type": "text/html" },
  body: "<HTML><HEAD><TITLE>404 Not Found</TITLE></HEAD><BODY><H1>Not Found</H1></BODY></HTML>\r\n",
};

const propertySet = (external: Values | number | undefined) =>
  '<e:propertyset xmlns:e="urn:schemas-upnp-org:event-1-0" xmlns:s="urn:schemas-upnp-org:service:WANIPConnection:1">' +
  "<e:property><PossibleConnectionTypes>IP_Routed</PossibleConnectionTypes></e:property>" +
  "<e:property><ConnectionStatus>Connected</ConnectionStatus></e:property><e:property><ExternalIPAddress>" +
  `${typeof external === "object" ? escaped(external.NewExternalIPAddress ?? "") : ""}</ExternalIPAddress></e:property>` +
  "<e:property><PortMappingNumberOfEntries>0</PortMappingNumberOfEntries></e:property></e:propertyset>";

const service = (type: string, id: string, control: string, events: string) =>
  `<service><serviceType>${type}</serviceType><serviceId>urn:upnp-org:serviceId:${id}</serviceId>` +
  `<SCPDURL>/${id}.xml</SCPDURL><controlURL>${control}</controlURL><eventSubURL>${events}</eventSubURL></service>`;

const device = (type: string, name: string, inside: string) =>
  `<device><deviceType>urn:schemas-upnp-org:device:${type}:1</deviceType>${name}` +
  `<UDN>uuid:00000000-0000-0000-0000-${type.length}</UDN>${inside}</device>`;

const urn = "urn:schemas-upnp-org:service";

const description = (
  { friendlyName = "Test router", manufacturer = "Nobody", more = "" }: UpnpShape,
  services: NonNullable<UpnpShape["services"]>,
) => {
  const named = `<friendlyName>${friendlyName}</friendlyName><manufacturer>${manufacturer}</manufacturer>`;
  const connections = services.map(([type, control], at) =>
    service(type, `WANIPConn${at + 1}`, control, at === 0 ? "/evt/IPConn" : ""),
  );
  const connection = device(
    "WANConnectionDevice",
    "<friendlyName>WANConnectionDevice</friendlyName>",
    `<serviceList>${connections.join("")}</serviceList>`,
  );
  const wan = device(
    "WANDevice",
    "<friendlyName>WANDevice</friendlyName>",
    `<serviceList>${service(`${urn}:WANCommonInterfaceConfig:1`, "WANCommonIFC1", "/ctl/CmnIfCfg", "/evt/CmnIfCfg")}` +
      `</serviceList><deviceList>${connection}</deviceList>`,
  );
  const gateway = device(
    "InternetGatewayDevice",
    named,
    `<serviceList>${service(`${urn}:Layer3Forwarding:1`, "L3Forwarding1", "/ctl/L3F", "/evt/L3F")}</serviceList>` +
      `<deviceList>${wan}</deviceList><presentationURL>http://127.0.0.1/</presentationURL>`,
  );
  return (
    '<?xml version="1.0"?>\r\n<root xmlns="urn:schemas-upnp-org:device-1-0">' +
    `<specVersion><major>1</major><minor>0</minor></specVersion>${more}${gateway}</root>\r\n`
  );
};

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const answerOf = (action: string, type: string, values: Values) =>
  `<u:${action}Response xmlns:u="${type}">${Object.entries(values)
    .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
    .join("")}</u:${action}Response>`;

const envelope = (body: string) =>
  '<?xml version="1.0"?>\r\n<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" ' +
  `s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>${body}</s:Body></s:Envelope>\r\n`;

const names: Readonly<Record<number, string>> = {
  401: "Invalid Action",
  501: "Action Failed",
  606: "Action not authorized",
};

const refusal = (code: number): Answer => ({
  status: 500,
  headers: xml,
  body: envelope(
    "<s:Fault><faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring><detail>" +
      `<UPnPError xmlns="urn:schemas-upnp-org:control-1-0"><errorCode>${code}</errorCode>` +
      `<errorDescription>${names[code] ?? ""}</errorDescription></UPnPError></detail></s:Fault>`,
  ),
});
