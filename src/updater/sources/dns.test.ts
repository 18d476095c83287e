import { expect, it, onTestFinished } from "vitest";
import { startEchoNameserver } from "../../../test/rig/updater/sources/echo-nameservers.ts";
import { dns } from "./dns.ts";

const connect = () => Promise.reject(new Error("no HTTP"));
const signal = new AbortController().signal;

it("sends each server its kind of query: addresses, TXT, and TXT of class CH", async () => {
  const server = await startEchoNameserver();
  onTestFinished(() => server.close());
  server.says = ({ type }, family) => {
    const text = family === "ipv4" ? "9.9.9.9" : "2a00::9";
    return type === "TXT" ? [text, "edns0-client-subnet 9.9.9.0/24"] : [text];
  };
  const questions = Object.values(server.addresses).flatMap((address) => [
    { server: address, name: "myip.test", type: "address", class: "IN" } as const,
    { server: address, name: "my.test", type: "TXT", class: "IN" } as const,
    { server: address, name: "whoami.test", type: "TXT", class: "CH" } as const,
  ]);
  const source = await dns.open({ questions, agree: 3, every: 1, timeout: 10_000 }, connect, ["ipv4", "ipv6"]);
  expect(await source.read(signal)).toMatchObject({
    report: new Map([["internet", { ipv4: [{ text: "9.9.9.9" }], ipv6: [{ text: "2a00::9" }] }]]),
  });
  expect(server.asked.toSorted()).toEqual([
    "ipv4 A IN myip.test",
    "ipv4 TXT CH whoami.test",
    "ipv4 TXT IN my.test",
    "ipv6 AAAA IN myip.test",
    "ipv6 TXT CH whoami.test",
    "ipv6 TXT IN my.test",
  ]);
});

it("retries if a packet was lost, and sends no query about a family that no name uses", async () => {
  const server = await startEchoNameserver();
  onTestFinished(() => server.close());
  server.says = () => (server.asked.length < 2 ? undefined : ["9.9.9.9"]);
  const questions = Object.values(server.addresses).map(
    (address) => ({ server: address, name: "myip.test", type: "address", class: "IN" }) as const,
  );
  const source = await dns.open({ questions, agree: 1, every: 1, timeout: 4_000 }, connect, ["ipv4"]);
  expect(await source.read(signal)).toMatchObject({ report: new Map([["internet", { ipv4: [{ text: "9.9.9.9" }] }]]) });
  expect(server.asked).toEqual(["ipv4 A IN myip.test", "ipv4 A IN myip.test"]);
});
