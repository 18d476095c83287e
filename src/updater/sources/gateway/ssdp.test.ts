import { createSocket, type RemoteInfo } from "node:dgram";
import { afterEach, describe, expect, it, test } from "vitest";
import { freePort } from "../../../../test/rig/free-port.ts";
import { readAnswer, type Search, searchGateways } from "./ssdp.ts";

const gateway = "urn:schemas-upnp-org:device:InternetGatewayDevice:1";
const answer = ({ status = "HTTP/1.1 200 OK", st = gateway, location = "http://192.168.1.1:5000/d.xml" } = {}) =>
  Buffer.from(
    `${status}\r\nCACHE-CONTROL: max-age=120\r\nST: ${st}\r\nlocation:${location}\r\nSERVER: x/1 UPnP/1.1\r\n\r\n`,
  );

describe("an answer", () => {
  it("has a location on the address that answered", () => {
    expect(readAnswer(answer(), "192.168.1.1")).toEqual({
      address: "192.168.1.1",
      server: "x/1 UPnP/1.1",
      location: new URL("http://192.168.1.1:5000/d.xml"),
    });
  });

  test.each([
    ["another machine", answer({ location: "http://192.168.1.2:5000/d.xml" })],
    ["a machine on the internet", answer({ location: "http://example.org/d.xml" })],
    ["a name", answer({ location: "http://router.lan/d.xml" })],
    ["this machine", answer({ location: "http://127.0.0.1/d.xml" })],
    ["a name that starts with the address", answer({ location: "http://192.168.1.1.example.org/" })],
    ["a user name in front", answer({ location: "http://a@192.168.1.1/" })],
    ["another protocol", answer({ location: "https://192.168.1.1/" })],
    ["a file", answer({ location: "file:///etc/passwd" })],
    ["nothing", answer({ location: "" })],
  ])("that leads to %s is ignored", (_, message) => {
    expect(readAnswer(message, "192.168.1.1")).toBeUndefined();
  });

  test.each([
    ["of another device", answer({ st: "upnp:rootdevice" })],
    ["with another status", answer({ status: "HTTP/1.1 404 Not Found" })],
    ["that is a search", answer({ status: "M-SEARCH * HTTP/1.1" })],
    ["that is an announcement", answer({ status: "NOTIFY * HTTP/1.1" })],
    ["without headers", Buffer.from("HTTP/1.1 200 OK")],
    ["of random bytes", Buffer.alloc(1500, 0xa5)],
    ["of nothing", Buffer.alloc(0)],
  ])("%s is ignored", (_, message) => {
    expect(readAnswer(message, "192.168.1.1")).toBeUndefined();
  });
});

describe("a search", () => {
  let close: () => void = () => undefined;
  afterEach(() => close());

  /** A peer on loopback that answers each packet with these. */
  async function peer(answers: (question: string, port: number) => readonly string[]): Promise<number> {
    const port = await freePort();
    const socket = createSocket("udp4");
    socket.on("message", (message, { port: to, address }: RemoteInfo) => {
      for (const each of answers(message.toString(), port)) socket.send(each, to, address);
    });
    await new Promise<void>((resolve) => socket.bind(port, "127.0.0.1", resolve));
    close = () => socket.close();
    return port;
  }
  const search = (port: number, more: Partial<Search> = {}) =>
    searchGateways(
      { wait: 60_000, isEnough: () => true, places: [{ from: "127.0.0.1", to: "127.0.0.1", port }], ...more },
      new AbortController().signal,
    );

  it("ends with the first answer that is enough", async () => {
    const asked: string[] = [];
    const port = await peer((question, own) => {
      asked.push(question);
      return ["nonsense", answer({ location: `http://127.0.0.1:${own}/d.xml` }).toString()];
    });
    expect(await search(port)).toMatchObject([{ address: "127.0.0.1" }]);
    expect(asked[0]).toMatch(
      /^M-SEARCH \* HTTP\/1\.1\r\nHOST: 127\.0\.0\.1:\d+\r\nMAN: "ssdp:discover"\r\nMX: 1\r\nST: urn/,
    );
  });

  it("returns each location once, and at most a hundred", async () => {
    const many = Array.from({ length: 300 }, (_, i) => answer({ location: `http://127.0.0.1:${i + 1}/` }).toString());
    const port = await peer(() => many);
    const answers = await search(port, { wait: 300, isEnough: () => false });
    expect(answers.length).toBeLessThanOrEqual(100);
    expect(new Set(answers.map(({ location }) => location.href)).size).toBe(answers.length);
  });

  it("without an answer, or without a network, finds nothing", async () => {
    const port = await peer(() => []);
    expect(await search(port, { wait: 50 })).toEqual([]);
    expect(await search(port, { wait: 50, places: [{ from: "192.0.2.1", to: "192.0.2.2", port }] })).toEqual([]);
  });
});
