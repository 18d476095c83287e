import { afterEach, beforeEach, expect, it } from "vitest";
import { type EchoService, says, startEchoService } from "../../../test/rig/updater/sources/echo-services.ts";
import { createHttpClient } from "../../lib/http-client/client.ts";
import type { AddressSource } from "./source.ts";
import { web } from "./web.ts";

const signal = new AbortController().signal;
let echoes: EchoService[];
let source: AddressSource;

beforeEach(async () => {
  echoes = await Promise.all([1, 2, 3].map(startEchoService));
  for (const echo of echoes) echo.answer = { ipv4: says("9.9.9.9\n"), ipv6: says("2a00::9") };
  const services = echoes.flatMap(({ urls }) => urls.map((url) => new URL(url)));
  source = await web.open({ services, agree: 2, every: 300_000 }, createHttpClient, ["ipv4"]);
});
afterEach(async () => {
  source.close();
  await Promise.all(echoes.map((echo) => echo.pause()));
});

const found = async () => {
  const reading = await source.read(signal);
  return reading.kind === "report" ? reading.report.get("internet")?.ipv4[0]?.text : reading.because;
};
const counts = () => echoes.map(({ asked }) => asked.splice(0).length);

it("asks two of three in turn, for plain text, and none over IPv6 if no name uses it", async () => {
  expect([await found(), counts()]).toEqual(["9.9.9.9", [1, 1, 0]]);
  expect([await found(), counts()]).toEqual(["9.9.9.9", [0, 1, 1]]);
  await found();
  const asked = echoes.flatMap((echo) => echo.asked);
  expect(asked).toEqual([
    { family: "ipv4", accept: "text/plain" },
    { family: "ipv4", accept: "text/plain" },
  ]);
  expect(source.every).toBe(300_000);
});

it("is not misled by a service that lies", async () => {
  const [first] = echoes;
  if (first) first.answer.ipv4 = says("8.8.8.8");
  for (let round = 0; round < 3; round++) expect(await found()).toBe("9.9.9.9");
});

it("does not ask a service again before its Retry-After", async () => {
  const [first] = echoes;
  if (first) first.answer.ipv4 = says("slowly", 429, { "retry-after": "3600" });
  expect([await found(), counts()]).toEqual(["9.9.9.9", [1, 1, 1]]);
  for (let round = 0; round < 3; round++) expect(await found()).toBe("9.9.9.9");
  expect(counts()[0]).toBe(0);
});

it("ignores blanks around the address", async () => {
  for (const echo of echoes) echo.answer.ipv4 = says("  9.9.9.10 \r\n\n");
  expect(await found()).toBe("9.9.9.10");
  for (const echo of echoes) echo.answer.ipv4 = says("fl=1\n ip= 9.9.9.11 \nts=7\n");
  expect(await found()).toBe("9.9.9.11");
});

it("finds the line ip= among others", async () => {
  for (const echo of echoes) echo.answer.ipv4 = says("fl=1\nip=9.9.9.10\nts=7\n");
  expect(await found()).toBe("9.9.9.10");
});
