import { expect, it, test } from "vitest";
import { readDescription } from "./description.ts";

const location = new URL("http://192.168.1.1:5000/a/rootDesc.xml");
const service = (type: string, control: string, events = "/evt") =>
  `<service><serviceType>urn:schemas-upnp-org:service:${type}</serviceType><controlURL>${control}</controlURL><eventSubURL>${events}</eventSubURL></service>`;
const device = (services: string, more = "") =>
  `<root>${more}<device><friendlyName>Attic &amp; Co</friendlyName><manufacturer>M</manufacturer><deviceList><device><serviceList>${services}</serviceList></device></deviceList></device></root>`;
const read = (services: string, more?: string) =>
  readDescription(device(services, more), location)?.connections.map(({ service: type, control, events }) => [
    type.split(":").slice(-2).join(":"),
    control.href,
    events?.href,
  ]);

test.each([
  ["WANIPConnection:1", true],
  ["WANIPConnection:2", true],
  ["WANPPPConnection:1", true],
  ["WANCommonInterfaceConfig:1", false],
  ["WANIPConnection:3", false],
  ["WANIPConnection:1#x", false],
])("%s is a connection: %s", (type, isOne) => {
  expect(read(service(type, "/c"))).toEqual(
    isOne ? [[type, "http://192.168.1.1:5000/c", "http://192.168.1.1:5000/evt"]] : [],
  );
});

test.each([
  ["a relative path", "ctl", "", "http://192.168.1.1:5000/a/ctl"],
  ["a path with a query", "/ctl?x=1", "", "http://192.168.1.1:5000/ctl?x=1"],
  ["a base with another port", "/ctl", "<URLBase>http://192.168.1.1:49152/</URLBase>", "http://192.168.1.1:49152/ctl"],
  ["an empty base", "/ctl", "<URLBase></URLBase>", "http://192.168.1.1:5000/ctl"],
  ["a base on another host", "/ctl", "<URLBase>http://10.0.0.1:80/</URLBase>", "http://192.168.1.1/ctl"],
  ["a URL on another host", "http://169.254.169.254/latest", "", "http://192.168.1.1/latest"],
  ["a URL with a password", "http://a:b@192.168.1.1:5000/ctl", "", "http://192.168.1.1:5000/ctl"],
])("%s leads to the host that sent the description", (_, control, base, expected) => {
  expect(read(service("WANIPConnection:1", control), base)?.map(([, url]) => url)).toEqual([expected]);
});

test.each([
  ["https", "https://192.168.1.1/ctl"],
  ["a file", "file:///etc/passwd"],
  ["nothing", ""],
])("a control URL that is %s is not used", (_, control) => {
  expect(read(service("WANIPConnection:1", control))).toEqual([]);
});

it("a description has a name without control characters", () => {
  expect(readDescription(device(""), location)).toEqual({ name: "Attic & Co", manufacturer: "M", connections: [] });
  const ruling = device("").replace("Attic", "\u001b[2J");
  expect(readDescription(ruling, location)?.name).toBe("\\u{1b}[2J & Co");
});

it("a description has at most eight connections", () => {
  expect(read(service("WANIPConnection:1", "/c").repeat(100))).toHaveLength(8);
});

it.each(["", "<root/>", "<html><body>Login</body></html>", '<!DOCTYPE r [<!ENTITY a "b">]><root><device/></root>'])(
  "not a description: %s",
  (text) => expect(readDescription(text, location)).toBeUndefined(),
);
