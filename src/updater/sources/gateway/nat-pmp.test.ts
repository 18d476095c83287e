import { createSocket, type Socket } from "node:dgram";
import { afterEach, describe, expect, it, test } from "vitest";
import { freePort } from "../../../../test/rig/free-port.ts";
import { askNatPmp, readNatPmp } from "./nat-pmp.ts";
import { askPcp, readPcp } from "./pcp.ts";

const never = new AbortController().signal;
const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const address = { kind: "address", text: "81.2.69.142" };
const nonce = hex("000102030405060708090a0b");

test.each<[string, string, unknown]>([
  ["the address", "00 80 0000 00000001 5102458e", address],
  ["not authorized", "00 80 0002 00000001", { kind: "refused", because: "it does not allow NAT-PMP for this machine" }],
  ["no address", "00 80 0003 00000001", { kind: "refused", because: "it has no address at the moment" }],
  ["an unknown result", "00 80 0063 00000001", { kind: "refused", because: "NAT-PMP result 99" }],
  ["PCP only", "02 80 0001 00000000", { kind: "other-version" }],
  ["an unsupported version", "00 80 0001 00000001", { kind: "other-version" }],
  ["the answer to another request", "00 81 0000 00000001 5102458e", undefined],
  ["a truncated address", "00 80 0000 00000001 5102", undefined],
  ["a request", "00 00", undefined],
  ["nothing", "", undefined],
])("NAT-PMP: %s", (_, packet, expected) => expect(readNatPmp(hex(packet))).toEqual(expected));

const pcp = ({
  head = "02 81 00 00",
  id = nonce.toString("hex"),
  external = "00000000000000000000ffff5102458e",
} = {}) => `${head} 00000078 00000001 ${"00".repeat(12)} ${id} 11000000 1234 1234 ${external}`;

test.each<[string, string, unknown]>([
  ["the address", pcp(), address],
  [
    "not authorized",
    pcp({ head: "02 81 00 02" }),
    { kind: "refused", because: "it does not allow PCP for this machine" },
  ],
  [
    "behind another NAT",
    pcp({ head: "02 81 00 0c" }),
    { kind: "refused", because: "another NAT is between this machine and the gateway" },
  ],
  ["an unknown result", pcp({ head: "02 81 00 63" }), { kind: "refused", because: "PCP result 99" }],
  ["NAT-PMP only", "00 80 0001 00000001", { kind: "other-version" }],
  [
    "an IPv6 address",
    pcp({ external: "20010db8000000000000000000000001" }),
    { kind: "refused", because: "it offers only an IPv6 address" },
  ],
  ["another nonce", pcp({ id: "ff".repeat(12) }), undefined],
  ["a request", pcp({ head: "02 01 00 00" }), undefined],
  ["truncated", pcp().slice(0, 100), undefined],
  ["nothing", "", undefined],
])("PCP: %s", (_, packet, expected) => expect(readPcp(hex(packet), nonce)).toEqual(expected));

describe("over UDP", () => {
  const open = new Set<Socket>();
  afterEach(() => {
    for (const socket of open) socket.close();
    open.clear();
  });

  async function peer(answer: (question: Buffer, count: number) => Buffer | undefined) {
    const asked: Buffer[] = [];
    const [port, socket] = [await freePort(), createSocket("udp4")];
    socket.on("message", (message, from) => {
      const said = answer(message, asked.push(message));
      if (said) socket.send(said, from.port, from.address);
    });
    await new Promise<void>((resolve) => socket.bind(port, "127.0.0.1", resolve));
    open.add(socket);
    return { port, asked };
  }

  it("a lost packet is sent again", async () => {
    const { port, asked } = await peer((_, count) => (count < 2 ? undefined : hex("00 80 0000 00000001 5102458e")));
    expect(await askNatPmp("127.0.0.1", never, port)).toEqual(address);
    expect(asked.length).toBe(2);
  });

  it("a packet that is not an answer is ignored", async () => {
    const { port } = await peer((_, count) => hex(count < 2 ? "ff" : "00 80 0000 00000001 5102458e"));
    expect(await askNatPmp("127.0.0.1", never, port)).toEqual(address);
  });

  it("PCP asks for a mapping of its own port, and removes it", async () => {
    const { port, asked } = await peer((question) => hex(pcp({ id: question.toString("hex", 24, 36) })));
    expect(await askPcp("127.0.0.1", never, port)).toEqual(address);
    expect(asked.map((each) => each.readUInt32BE(4))).toEqual([120, 0]);
    expect(asked.map((each) => each.toString("hex", 8, 24))).toEqual(Array(2).fill("00000000000000000000ffff7f000001"));
    expect(new Set(asked.map((each) => each.toString("hex", 24, 42))).size).toBe(1);
  });

  it("if nothing listens, there is no answer", async () => {
    const port = await freePort();
    expect(await askNatPmp("127.0.0.1", never, port)).toEqual({ kind: "silent" });
    expect(await askPcp("127.0.0.1", never, port)).toEqual({ kind: "silent" });
  });

  it("an aborted request ends", async () => {
    const { port } = await peer(() => undefined);
    const stop = new AbortController();
    const asking = askNatPmp("127.0.0.1", stop.signal, port);
    stop.abort();
    expect(await asking).toEqual({ kind: "silent" });
  });
});
