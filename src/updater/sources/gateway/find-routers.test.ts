import { createSocket, type Socket } from "node:dgram";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../../test/rig/free-port.ts";
import { startUpnpPeer, type UpnpPeer, type UpnpShape } from "../../../../test/rig/updater/sources/upnp-peer.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import { findRouters } from "./find-routers.ts";

const peers: UpnpPeer[] = [];
let responder: Socket;
let port: number;
/** The locations in the answers to a search. */
let locations: readonly string[] = [];
beforeAll(async () => {
  port = await freePort();
  responder = createSocket("udp4");
  responder.on("message", (_, from) => {
    for (const location of locations) {
      const st = "urn:schemas-upnp-org:device:InternetGatewayDevice:1";
      responder.send(`HTTP/1.1 200 OK\r\nST: ${st}\r\nLOCATION: ${location}\r\n\r\n`, from.port, from.address);
    }
  });
  await new Promise<void>((resolve) => responder.bind(port, "127.0.0.1", resolve));
});
afterAll(async () => {
  responder.close();
  for (const peer of peers) await peer.close();
});

async function router(shape: UpnpShape, address: string): Promise<string> {
  const peer = await startUpnpPeer(shape);
  peers.push(peer);
  peer.values.set("GetExternalIPAddress", { NewExternalIPAddress: address });
  return `${peer.url}${shape.location ?? "/rootDesc.xml"}`;
}

const find = (gateway: string, onlyOwn = false) =>
  findRouters(
    { connect: createHttpClient, wait: 200, gateway, onlyOwn, places: [{ from: "127.0.0.1", to: "127.0.0.1", port }] },
    new AbortController().signal,
  );

it("lists the routers that answered, with their kind of source", async () => {
  locations = [await router({ friendlyName: "Attic router" }, "81.2.69.142")];
  const found = { kind: "igd", name: "Attic router", address: "127.0.0.1", external: "81.2.69.142", isOwn: true };
  expect(await find("127.0.0.1")).toEqual([found]);
  locations = [await router({ friendlyName: "FRITZ!Box 7590", location: "/igddesc.xml" }, "")];
  expect(await find("127.0.0.1")).toEqual([
    { kind: "fritzbox", name: "FRITZ!Box 7590", address: "127.0.0.1", isOwn: true },
  ]);
});

it("omits routers with an invalid description, or a location on another machine", async () => {
  const silent = await freePort();
  locations = [`http://127.0.0.1:${silent}/`, "http://192.0.2.1/", "http://localhost/", "file:///etc/passwd"];
  expect(await find("127.0.0.2")).toEqual([]);
  locations = [];
  expect(await find("127.0.0.2")).toEqual([]);
});

it("sends nothing to other routers, if only the machine's own is wanted", async () => {
  const location = await router({ friendlyName: "Attic router" }, "81.2.69.142");
  locations = [location];
  const asked = peers.at(-1)?.asked;
  expect(await find("127.0.0.2", true)).toEqual([]);
  expect(asked).toEqual([]);
  expect(await find("127.0.0.1", true)).toMatchObject([{ name: "Attic router" }]);
});
