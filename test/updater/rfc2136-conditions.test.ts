import { connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { opcodes } from "../../src/lib/dns/codes.ts";
import { createFrameReader, framed } from "../../src/lib/dns/message.ts";
import { appendTsig, readTsig, type TsigKey } from "../../src/lib/dns/tsig.ts";
import type { SetName } from "../../src/providers/provider-calls.ts";
import type { Rfc2136Target } from "../../src/updater/targets/rfc2136.ts";
import { rfc2136Calls } from "../../src/updater/targets/rfc2136.ts";
import { createZoneTarget } from "../../src/updater/targets/zone-target.ts";
import { run } from "../nameserver/moor-dns.ts";
import { hasZone, recordsAt } from "../rig/updater/records-at.ts";
import { startUpdateServer, tsigSecret, type UpdateServer } from "../rig/updater/update-servers.ts";

/** How moor avoids overwriting a change by others, and the message for each refusal; with BIND. */

const never = new AbortController().signal;
const home: SetName = { zone: "example.org", name: "home", type: "A" };
const key = (name = "home", secret = tsigSecret): TsigKey => ({
  ...{ name, algorithm: "hmac-sha256", secret: new Uint8Array(Buffer.from(secret, "base64")) },
});
const configFor = (port: number, tsig = key(), timeout = 15_000): Rfc2136Target => ({
  ...{ name: "dns", api: "rfc2136", url: new URL(`dns://127.0.0.1:${port}`), host: "127.0.0.1", port, timeout },
  key: () => tsig,
});

describe("an UPDATE", () => {
  let bind: UpdateServer;
  const nsupdate = (...lines: readonly string[]) =>
    run(
      "nsupdate",
      ["-v", "-y", `hmac-sha256:home:${tsigSecret}`],
      [`server 127.0.0.1 ${bind.port}`, "zone example.org", ...lines, "send", ""].join("\n"),
    );
  const addresses = async (name: string) =>
    (await recordsAt(bind.port, [[`${name}.example.org`, "A"]])).map(({ value }) => value).toSorted();
  const calls = (tsig = key(), now?: () => number) => rfc2136Calls(configFor(bind.port, tsig), now);

  beforeAll(async () => {
    bind = await startUpdateServer("BIND", hasZone);
  });
  afterAll(() => bind?.close());

  const read = async (set = home, from = calls()) => {
    const found = await from.read(set, never);
    if (found.kind !== "found") throw new Error(found.because);
    return found.value;
  };

  it("does not overwrite what another client wrote since the read", async () => {
    await nsupdate("update delete home.example.org A", "update add home.example.org 300 A 192.0.2.1");
    const stale = await read();
    await nsupdate("update delete home.example.org A", "update add home.example.org 300 A 192.0.2.66");
    expect(await calls().write(home, { value: "9.9.9.9", ttl: undefined }, stale, never)).toMatchObject({
      kind: "refused",
      because: { kind: "later", because: "another client changed the record at the same time" },
    });
    expect(await addresses("home")).toEqual(["192.0.2.66"]);
  });

  it("does not remove an address that another client added since the read", async () => {
    await nsupdate("update delete home.example.org A", "update add home.example.org 300 A 192.0.2.1");
    const stale = await read();
    await nsupdate("update add home.example.org 300 A 192.0.2.66");
    expect((await calls().write(home, { value: "9.9.9.9", ttl: undefined }, stale, never)).kind).toBe("refused");
    expect(await addresses("home")).toEqual(["192.0.2.1", "192.0.2.66"]);
  });

  it("does not create what another client created since the read", async () => {
    const made: SetName = { ...home, name: "made" };
    expect(await read(made)).toBeUndefined();
    await nsupdate("update add made.example.org 300 A 192.0.2.66");
    expect((await calls().write(made, { value: "9.9.9.9", ttl: 60 }, undefined, never)).kind).toBe("refused");
    expect(await addresses("made")).toEqual(["192.0.2.66"]);
  });

  it("creates a name that a wildcard answered for", async () => {
    await nsupdate("update add *.wild.example.org 300 A 192.0.2.77");
    const below: SetName = { ...home, name: "a.wild" };
    const answered = await read(below);
    expect(answered?.values).toEqual(["192.0.2.77"]);
    expect(await calls().write(below, { value: "9.9.9.9", ttl: 60 }, answered, never)).toMatchObject({
      kind: "accepted",
    });
    expect([await addresses("a.wild"), await addresses("b.wild")]).toEqual([["9.9.9.9"], ["192.0.2.77"]]);
  });

  it("leaves an alias alone", async () => {
    await nsupdate("update add alias.example.org 300 CNAME home.example.org");
    expect(await calls().read({ ...home, name: "alias" }, never)).toMatchObject({
      kind: "refused",
      because: "alias.example.org is an alias (CNAME), which can have no A record",
    });
  });

  // RFC 8945 section 5.3.2: BADTIME is signed, so it can be believed. BADKEY and BADSIG are not, and anybody could send
  // them.
  it.each<[string, TsigKey, number, "refused" | "unknown", RegExp]>([
    ["a key of another name", key("nobody"), 0, "unknown", /BADKEY/],
    ["another secret", key("home", "AAAA"), 0, "unknown", /BADSIG/],
    ["a clock that is ten minutes late", key(), -600_000, "refused", /BADTIME.*5 minutes apart/],
  ])("%s is reported as such", async (_, tsig, late, kind, because) => {
    const from = calls(tsig, () => Date.now() + late);
    const fault = await from.read(home, never);
    expect(fault).toMatchObject({ kind: "unauthorised", because: expect.stringMatching(because) });
    expect(JSON.stringify(fault)).not.toContain(tsigSecret);
    expect((await from.write(home, { value: "9.9.9.9", ttl: 60 }, undefined, never)).kind).toBe(kind);
  });

  /** Changes the answers to updates on their way; queries pass as they are. */
  const between = async (change: (answer: Buffer) => Buffer) => {
    const proxy = createServer((client) => {
      const server = connect(bind.port, "127.0.0.1");
      const frames = createFrameReader();
      client.pipe(server).on("error", () => client.destroy());
      client.on("error", () => server.destroy());
      server.on("data", (chunk) => {
        frames.add(chunk);
        for (let answer = frames.next(); answer; answer = frames.next()) {
          const isUpdate = (((answer[2] ?? 0) >> 3) & 0xf) === opcodes.update;
          client.write(framed(isUpdate ? change(answer) : answer));
        }
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    return { port: (proxy.address() as { port: number }).port, close: () => proxy.close() };
  };
  const parts = (answer: Buffer) => {
    const read = readTsig(answer);
    if (typeof read === "string") throw new Error(read);
    return read;
  };
  const withCode = (message: Buffer, rcode: number) => {
    message[3] = ((message[3] ?? 0) & 0xf0) | rcode;
    return message;
  };
  const [refused, notAuth, badKey] = [5, 9, 17];

  it.each<[string, (answer: Buffer) => Buffer]>([
    ["has lost its signature", (answer) => parts(answer).message],
    ["is an unsigned REFUSED", (answer) => withCode(parts(answer).message, refused)],
    ["is an unsigned NOTAUTH", (answer) => withCode(parts(answer).message, notAuth)],
    ["is a REFUSED with the signature of another answer", (answer) => withCode(Buffer.from(answer), refused)],
    [
      "is a BADKEY, which nobody signs",
      (answer) => {
        const { message, tsig } = parts(answer);
        return appendTsig(withCode(message, notAuth), { ...tsig, mac: Buffer.of(), error: badKey });
      },
    ],
    ["has the wrong signature", (answer) => Buffer.from(answer).fill(0, answer.length - 30, answer.length - 10)],
  ])("leaves its outcome open if the answer %s", async (_, change) => {
    await nsupdate("update delete home.example.org A", "update add home.example.org 300 A 192.0.2.1");
    const proxy = await between(change);
    const target = createZoneTarget(rfc2136Calls(configFor(proxy.port)));
    const request = { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" } as const;
    try {
      expect(await target.replace(request, never)).toMatchObject({ kind: "unknown", fault: { kind: "unauthorised" } });
      expect(await addresses("home")).toEqual(["9.9.9.9"]);
      const [back] = (await target.replaceAll?.([{ ...request, value: "192.0.2.1" }], never)) ?? [];
      expect([back?.kind, await addresses("home")]).toEqual(["unknown", ["192.0.2.1"]]);
    } finally {
      proxy.close();
    }
  });

  it("a key that may not change the name is reported as such", async () => {
    const from = calls(key("reader"));
    const held = await read(home, from);
    expect(await from.write(home, { value: "9.9.9.9", ttl: 60 }, held, never)).toMatchObject({
      kind: "refused",
      because: {
        kind: "unauthorised",
        because: "the nameserver refused the update of home.example.org A (REFUSED)",
        todo: expect.stringContaining("allow the key reader"),
      },
    });
  });
});

describe("a nameserver that does not answer", () => {
  it("is unreached if it refuses the connection", async () => {
    expect(await rfc2136Calls(configFor(1)).read(home, never)).toMatchObject({ kind: "later", unreached: true });
  });

  it("leaves the outcome of an update open if it closes the connection, or says nothing in time", async () => {
    const server = createServer((socket) => socket.on("data", () => mode === "close" && socket.destroy()));
    let mode = "close";
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const write = (timeout: number) =>
      rfc2136Calls(configFor(port, key(), timeout)).write(home, { value: "9.9.9.9", ttl: 60 }, undefined, never);
    try {
      expect(await write(15_000)).toMatchObject({ kind: "unknown", fault: { kind: "later", unreached: true } });
      mode = "silence";
      expect(await write(200)).toMatchObject({
        kind: "unknown",
        fault: { because: expect.stringContaining("200 ms") },
      });
    } finally {
      server.close();
    }
  });
});
