import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { until } from "../../../../test/rig/until.ts";
import {
  startUpnpPeer,
  type UpnpPeer,
  type UpnpShape,
  wanIp,
  wanPpp,
} from "../../../../test/rig/updater/sources/upnp-peer.ts";
import { createHttpClient } from "../../../lib/http-client/client.ts";
import { BackOffs } from "../../../lib/limits/failure-delay.ts";
import type { AddressSource, SourceReading } from "../source.ts";
import { SourceReader } from "../source-reader.ts";
import { followEvents } from "./events.ts";
import { igd } from "./igd.ts";

const never = new AbortController().signal;
const external = (text: string) => ({ NewExternalIPAddress: text });

let peer: UpnpPeer;
let source: AddressSource;
const start = async (shape?: UpnpShape) => {
  peer = await startUpnpPeer(shape);
  source = await igd.open({ url: new URL(`${peer.url}/rootDesc.xml`), timeout: 15_000 }, createHttpClient);
};
afterEach(async () => {
  source?.close();
  await peer?.close();
});

const said = (reading: SourceReading) =>
  reading.kind === "report" ? reading.report.get("internet")?.ipv4[0]?.text : reading.because;
const read = async () => said(await source.read(never));

describe("a router with two connections", () => {
  beforeEach(() =>
    start({
      services: [
        [wanIp, "/ctl/ip"],
        [wanPpp, "/ctl/ppp"],
      ],
    }),
  );

  test.each<[string, string | number, string | number, string]>([
    ["the second is in use", "", "81.2.69.142", "81.2.69.142"],
    ["the first reports zeros", "0.0.0.0", "81.2.69.142", "81.2.69.142"],
    ["the second is refused", "81.2.69.142", 501, "81.2.69.142"],
    ["both report the same", "81.2.69.142", "81.2.69.142", "81.2.69.142"],
    ["they differ", "81.2.69.142", "81.2.69.143", "the router has two connections with different addresses"],
    ["none is in use", "", "0.0.0.0", "the router has no external address at the moment"],
    ["one is refused, the other is not in use", "", 501, "the router refused to report its address: 501 Action Failed"],
    ["an invalid address", "81.2.69", "", 'the router reports "81.2.69" as its address'],
    ["an IPv6 address", "2001:db8::1", "", 'the router reports "2001:db8::1" as its address'],
  ])("%s", async (_, first, second, expected) => {
    const value = (each: string | number) => (typeof each === "number" ? each : external(each));
    peer.values.set("/ctl/ip GetExternalIPAddress", value(first));
    peer.values.set("/ctl/ppp GetExternalIPAddress", value(second));
    expect(await read()).toBe(expected);
  });
});

it("never asks another machine, whatever the description says", async () => {
  const other = await startUpnpPeer();
  await start({ more: `<URLBase>http://192.0.2.1:${other.port}/</URLBase>` });
  other.values.set("GetExternalIPAddress", external("81.2.69.142"));
  // Only the port is that of the `URLBase`, the address is the router's.
  expect(await read()).toBe("81.2.69.142");
  expect(other.asked.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${other.port}`]);
  await other.close();
});

it("a device without a service for it has no connection to the internet", async () => {
  await start({ friendlyName: "TV", services: [["urn:schemas-upnp-org:service:AVTransport:1", "/ctl"]] });
  expect(await read()).toMatch(/^TV at 127\.0\.0\.1:\d+ has no connection to the internet$/);
});

describe("events", () => {
  beforeEach(async () => {
    await start();
    peer.values.set("GetExternalIPAddress", external("81.2.69.142"));
  });
  const callbacks = () => [...peer.subscribers.values()];

  it("make moor read the router again: a forged one changes nothing", async () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    const following = source.follow((reading) => void heard.push(said(reading)), stop.signal);
    await until(() => heard.length === 1);
    const body =
      "<e:propertyset><e:property><ExternalIPAddress>6.6.6.6</ExternalIPAddress></e:property></e:propertyset>";
    await fetch(callbacks()[0] ?? "", { method: "NOTIFY", body });
    await until(() => heard.length === 2);
    expect(heard).toEqual(["81.2.69.142", "81.2.69.142"]);
    stop.abort();
    expect(await following).toEqual({ kind: "ended" });
    expect(peer.subscribers.size).toBe(0);
  });

  it("are accepted only at the address that the router knows", async () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    const following = source.follow((reading) => void heard.push(said(reading)), stop.signal);
    await until(() => heard.length === 1);
    const [callback = ""] = callbacks();
    const statuses = [];
    for (const [method, path] of [
      ["GET", callback],
      ["NOTIFY", new URL("/", callback)],
      ["POST", callback],
    ] as const)
      statuses.push((await fetch(path, { method })).status);
    expect(statuses).toEqual([404, 404, 404]);
    peer.notify();
    await until(() => heard.length === 2);
    stop.abort();
    await following;
    expect(heard.length).toBe(2);
  });

  it("continue while the router is offline", async () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    const following = source.follow((reading) => void heard.push(said(reading)), stop.signal);
    await until(() => heard.length === 1);
    for (const text of ["", "81.2.69.143"]) {
      peer.values.set("GetExternalIPAddress", external(text));
      peer.notify();
      await until(() => heard.at(-1) === (text || "the router has no external address at the moment"));
    }
    expect(peer.asked.filter(({ method }) => method === "SUBSCRIBE").length).toBe(1);
    stop.abort();
    await following;
  });

  it("are not offered by a router that refuses, or whose first event does not arrive", async () => {
    const client = await createHttpClient({ url: new URL(peer.url), trust: { kind: "system" } });
    const follow = (path: string, first: number) =>
      followEvents({ client, events: new URL(path, peer.url), onChange: async () => true, times: { first } }, never);
    peer.fail({ status: 501 });
    expect(await follow("/evt", 60_000)).toEqual({ kind: "not-offered" });
    peer.fail({ headers: { sid: "uuid:1", timeout: "Second-300" } });
    expect(await follow("/evt", 20)).toEqual({ kind: "not-offered" });
    expect(peer.asked.at(-1)).toMatchObject({ method: "UNSUBSCRIBE", headers: { sid: "uuid:1" } });
    client.close();
  });

  it("arrive although others on the network hold connections open", async () => {
    const stop = new AbortController();
    const following = source.follow(() => undefined, stop.signal);
    await until(() => peer.subscribers.size === 1);
    const [callback = ""] = peer.subscribers.values();
    const port = Number(new URL(callback).port);
    const idle = Array.from({ length: 40 }, (_, i) =>
      connect({ host: "127.0.0.1", port, localAddress: `127.0.1.${i % 8}` }).on("error", () => undefined),
    );
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    expect((await fetch(callback, { method: "NOTIFY" })).status).toBe(200);
    for (const socket of idle) socket.destroy();
    stop.abort();
    await following;
  });

  it("are not relied on: the router is read regularly even if none comes", async () => {
    const client = await createHttpClient({ url: new URL(peer.url), trust: { kind: "system" } });
    let checks = 0;
    const onChange = async () => ++checks < 4;
    const events = new URL("/evt", peer.url);
    expect(await followEvents({ client, events, onChange, times: { check: 5 } }, never)).toEqual({ kind: "ended" });
    expect(checks).toBe(4);
    client.close();
  });

  it("are not needed: a new address is noticed within the interval, even if the router restarts and forgets whom to notify", async () => {
    const stop = new AbortController();
    source = await igd.open({ url: new URL(`${peer.url}/rootDesc.xml`), timeout: 15_000 }, createHttpClient, [], 5);
    const heard: unknown[] = [];
    const following = source.follow((reading) => void heard.push(said(reading)), stop.signal);
    await until(() => heard.length > 0);
    peer.subscribers.clear();
    peer.values.set("GetExternalIPAddress", external("81.2.69.143"));
    await until(() => heard.at(-1) === "81.2.69.143");
    stop.abort();
    await following;
    expect(new Set(heard)).toEqual(new Set(["81.2.69.142", "81.2.69.143"]));
  });

  it("after a restart, the router is read within the interval, and its events are subscribed to again", async () => {
    const stop = new AbortController();
    const [interval, clock] = [30_000, { now: 1_000_000 }];
    source = await igd.open({ url: new URL(`${peer.url}/rootDesc.xml`), timeout: 15_000 }, createHttpClient, [], 5);
    const reader = new SourceReader("home", source, {
      backOffs: new BackOffs(() => 0.999, interval),
      now: () => clock.now,
      random: () => 0,
      pause: () => until(() => !isDown),
    });
    let isDown = false;
    const following = reader.follow(() => undefined, stop.signal);
    const latest = () => {
      const reading = reader.latest();
      return reading && said(reading);
    };
    await until(() => reader.isPushing());
    isDown = true;
    peer.subscribers.clear();
    peer.fail({ status: 503 });
    await until(() => !reader.isPushing());
    for (let tries = 0; tries < 12; tries++) {
      await reader.read(stop.signal);
      const retryAt = reader.retryAt() ?? 0;
      expect(retryAt - clock.now).toBeLessThanOrEqual(interval);
      clock.now = retryAt;
    }
    expect(latest()).toContain("503");
    peer.values.set("GetExternalIPAddress", external("81.2.69.143"));
    await peer.recover();
    await reader.read(stop.signal);
    expect(latest()).toBe("81.2.69.143");
    isDown = false;
    await until(() => reader.isPushing() && peer.subscribers.size === 1);
    stop.abort();
    await following;
    expect(peer.subscribers.size).toBe(0);
  });

  it("are subscribed to again if the router no longer knows the subscription", async () => {
    const client = await createHttpClient({ url: new URL(peer.url), trust: { kind: "system" } });
    let checks = 0;
    const onChange = async () => ++checks > 0;
    const events = new URL("/evt", peer.url);
    const stop = new AbortController();
    const times = { check: 60_000, renewal: 1, longestRenewal: 5 };
    const following = followEvents({ client, events, onChange, times }, stop.signal);
    await until(() => checks > 1);
    peer.subscribers.clear();
    await until(() => peer.subscribers.size === 1);
    const [before] = [checks];
    peer.notify();
    await until(() => checks > before);
    stop.abort();
    expect(await following).toEqual({ kind: "ended" });
    expect(peer.subscribers.size).toBe(0);
    client.close();
  });

  it("are subscribed to again before the subscription ends, and end when that is refused", async () => {
    const client = await createHttpClient({ url: new URL(peer.url), trust: { kind: "system" } });
    peer.fail({ headers: { sid: "uuid:1", timeout: "Second-0" } });
    const source = { client, events: new URL("/evt", peer.url), onChange: async () => true };
    const following = followEvents({ ...source, times: { first: 60_000, check: 60_000, renewal: 1 } }, never);
    const subscribed = () => peer.asked.filter(({ method }) => method === "SUBSCRIBE").map(({ headers }) => headers);
    await until(() => subscribed().length === 1);
    expect(subscribed()[0]).toMatchObject({ nt: "upnp:event", timeout: "Second-600" });
    await fetch(/<(.*)>/.exec(String(subscribed()[0]?.callback))?.[1] ?? "", { method: "NOTIFY" });
    await until(() => subscribed().length > 3);
    expect(subscribed()[1]).toMatchObject({ sid: "uuid:1" });
    expect(subscribed()[1]).not.toHaveProperty("callback");
    peer.fail({ status: 412 });
    expect(await following).toEqual({ kind: "ended" });
    client.close();
  });
});
