import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Namespace, node, openNamespace } from "../rig/namespace.ts";
import { realPause } from "../rig/real-pause.ts";
import type { StartedProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

/** Both kinds of sockets, while the network around them breaks. */
describe.each(["batch", "dgram"])("%s", (kind) => {
  let server: Namespace;
  let echo: StartedProcess;
  beforeEach(async () => {
    server = await openNamespace();
    await server.ip(
      "link add cable type veth peer name other",
      "addr add 192.0.2.1/24 dev cable",
      "neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev cable",
      "link set other up",
      "link set cable up",
    );
    echo = server.start([node, "test/nameserver/udp-echo.ts", "0.0.0.0", "5300", kind]);
    await echo.says(/listens/);
  });
  afterEach(() => server.close());

  /** A batch of datagrams, each with more than a kilobyte. */
  const forge = async (from: string, fromPort = 1_000, to = "192.0.2.1") => {
    const words = ["5300", to, from, `${fromPort}`, "32"];
    const { code, err } = await server.run([node, "test/nameserver/forge.ts", ...words]);
    expect([code, err]).toEqual([0, ""]);
  };

  /** How many datagrams it has read so far. */
  async function read(): Promise<number> {
    const before = echo.out().length;
    echo.child.kill("SIGUSR2");
    await until(() => echo.out().slice(before).includes("\n"));
    return Number(/read (\d+)/.exec(echo.out().slice(before))?.[1]);
  }

  /** Sends until it gets an echo. */
  const ask = async (to: string, text: string) => {
    const client = `
      const socket = require("node:dgram").createSocket("udp4");
      socket.on("message", (echo) => { console.log(String(echo)); process.exit(); });
      const send = () => socket.send("${text}", 5300, "${to}", () => {});
      send(); setInterval(send, 100);`;
    return (await server.run([node, "-e", client])).out.trim();
  };

  /** Sends once. */
  const tell = (to: string, text: string) =>
    server.run([node, "-e", `require("node:dgram").createSocket("udp4").send("${text}", 5300, "${to}", process.exit)`]);

  it("does not read what claims to come from port 0", async () => {
    await forge("127.0.0.2", 0, "127.0.0.1");
    expect(await ask("127.0.0.1", "a")).toBe("a");
    expect(await read()).toBeLessThan(32);
  });

  it.each([
    ["an address that was removed", "addr del 192.0.2.1/24 dev cable"],
    ["an interface that is down", "link set cable down"],
    ["an interface that is gone", "link del cable"],
  ])("loses the replies from %s, and answers others", async (_, change) => {
    await forge("192.0.2.9");
    await tell("192.0.2.1", "held");
    await until(async () => (await read()) === 33);
    await server.ip(change);
    expect(await ask("127.0.0.1", "release")).toBe("release");
    await forge("192.0.2.9", 1_000, "127.0.0.1");
    await until(async () => (await read()) >= 66);
    expect(await ask("127.0.0.1", "a")).toBe("a");
  });

  it("goes on reading while the send buffer is full, and answers when it is not", async () => {
    const tc = async (...words: string[]) => expect((await server.run(["tc", ...words])).code).toBe(0);
    await tc(..."qdisc add dev cable root tbf rate 8kbit burst 1600 limit 10000000".split(" "));
    // What the kernel has taken and not yet sent: 212,992 bytes by default.
    const unsent = () => /:14B4 \S+ \S+ (\w+):/.exec(readFileSync(`/proc/${echo.pid}/net/udp`, "latin1"))?.[1] ?? "";
    let sent = 0;
    const isFull = () => Number.parseInt(unsent(), 16) > 200_000;
    for (; !isFull() && sent < 10_000; sent += 32) await forge("192.0.2.9");
    expect(isFull()).toBe(true);
    const before = await read();
    await forge("192.0.2.9");
    await until(async () => (await read()) === before + 32);
    await tc(..."qdisc del dev cable root".split(" "));
    expect(await ask("127.0.0.1", "a")).toBe("a");
  });

  it("wakes up twice a second at most while nobody asks", async () => {
    expect(await ask("127.0.0.1", "a")).toBe("a");
    const wakeUps = () =>
      Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${echo.pid}/status`, "latin1"))?.[1]);
    const [before, begun] = [wakeUps(), performance.now()];
    await realPause(3_000, "it does nothing for a while");
    expect((wakeUps() - before) / ((performance.now() - begun) / 1_000)).toBeLessThanOrEqual(2);
  });
});
