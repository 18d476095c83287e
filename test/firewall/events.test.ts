import type { IncomingMessage } from "node:http";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { interfaceEventsPath } from "../../src/contract/interface-events.ts";
import type { KernelRow } from "../../src/lib/kernel/row.ts";
import { realPause } from "../rig/real-pause.ts";
import { type Asking, openRig, type Rig } from "./rig.ts";

const report = "/api/diagnostics/interface/getinterfaceconfig";

type Event = { readonly event: string; readonly id: string; readonly data: Record<string, { mtu?: string }> };

/** What a stream has sent so far. */
function reader(response: IncomingMessage) {
  let text = "";
  response.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const ended = new Promise<void>((resolve) => response.once("close", resolve));
  response.on("error", () => undefined);
  const events = (): Event[] =>
    [...text.matchAll(/id: (.*)\nevent: (.*)\ndata: (.*)\n\n/g)].map(([, id = "", event = "", data = ""]) => ({
      ...{ id, event, data: JSON.parse(data) as Event["data"] },
    }));
  return { text: () => text, events, ended };
}

/** After this, a new listener gets no older report. */
const untilReadAgain = () => realPause(400, "a report is reused for a fifth of a second");

let rig: Rig;
afterEach(() => rig.close());

/** A machine with one device whose MTU the test changes. */
async function machine() {
  let mtu = 1500;
  const read = async (): Promise<readonly KernelRow[]> => [{ ifname: "eth0", flags: ["UP"], mtu, addr_info: [] }];
  rig = await openRig({ read });
  const key = rig.key("listener", ["interface-status"]);
  const listen = async (more: Asking = {}) => {
    const response = await rig.open(interfaceEventsPath, { key, ...more });
    onTestFinished(() => void response.destroy());
    return { response, ...reader(response) };
  };
  /** No event of the kernel reports this change, so the service notices it only when it reads again. */
  const become = (value: number) => {
    mtu = value;
  };
  return { key, listen, become };
}

describe("the event stream", () => {
  it("begins with the reconnect delay and the whole report, as in getinterfaceconfig", async () => {
    const { listen, key } = await machine();
    const { response, text, events } = await listen();
    expect(response.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" });
    await expect.poll(events).toHaveLength(1);
    expect(text()).toMatch(/^retry: 2000\n\nid: \d{13}-1\nevent: snapshot\ndata: /);
    const answered = await rig.ask(report, { key });
    expect(text()).toContain(`data: ${answered.body}\n\n`);
  });

  it("sends no snapshot to a client that has the latest, and a whole one to all others", async () => {
    const { listen, become } = await machine();
    const first = await listen();
    await expect.poll(first.events).toHaveLength(1);
    const id = first.events()[0]?.id ?? "";
    const resumed = await listen({ headers: { "last-event-id": id } });
    await expect.poll(resumed.text).toBe("retry: 2000\n\n: heartbeat\n\n");
    const stranger = await listen({ headers: { "last-event-id": `1-${id.split("-")[1]}` } });
    await expect.poll(stranger.events).toMatchObject([{ event: "snapshot", id }]);
    become(1400);
    await untilReadAgain();
    const late = await listen({ headers: { "last-event-id": id } });
    await expect.poll(late.events).toMatchObject([{ event: "snapshot", data: { eth0: { mtu: "1400" } } }]);
    // The reading for the new listener also notified the others.
    await expect
      .poll(() => resumed.events().at(-1))
      .toMatchObject({ event: "change", data: { eth0: { mtu: "1400" } } });
  });

  it("finds a change without an event", async () => {
    const { listen, become } = await machine();
    const { events } = await listen();
    await expect.poll(events).toHaveLength(1);
    become(1300);
    await untilReadAgain();
    // Periodic readings are rare while `ip monitor` runs, so this does not wait for one.
    await listen();
    await expect.poll(() => events().at(-1)?.data.eth0?.mtu).toBe("1300");
  });

  it("HEAD returns only the headers", async () => {
    const { key } = await machine();
    const got = await rig.ask(interfaceEventsPath, { key, method: "HEAD" });
    expect(got).toMatchObject({ status: 200, body: "", headers: { "content-type": "text/event-stream" } });
  });

  it("ends when the key is revoked, before the next change is sent", async () => {
    const { listen, become, key } = await machine();
    const { events, ended } = await listen();
    await expect.poll(events).toHaveLength(1);
    rig.access.keys.revoke(key.key, new Date());
    become(1200);
    await untilReadAgain();
    const other = rig.key("other", ["interface-status"]);
    await listen({ key: other });
    await ended;
    expect(events()).toHaveLength(1);
  });

  it("ends when another process or the API revokes the key, even if nothing changes", async () => {
    const { listen, key } = await machine();
    const { text, ended } = await listen();
    await expect.poll(text).toContain("snapshot");
    rig.access.keys.revoke(key.key, new Date());
    await ended;
    const [manager, other] = [rig.key("manager", ["all"]), rig.key("other", ["interface-status"])];
    const second = await listen({ key: other });
    await expect.poll(second.text).toContain("snapshot");
    const id = encodeURIComponent(Buffer.from(other.key).toString("base64"));
    expect((await rig.ask(`/api/auth/user/del_api_key/${id}`, { key: manager, method: "POST" })).body).toContain(
      "deleted",
    );
    await second.ended;
    for (const came of [text(), second.text()]) expect(came).not.toContain("heartbeat");
  });

  it("refuses the 21st stream of one key, says what to do, and accepts those of others", async () => {
    const { listen, key } = await machine();
    await Promise.all(Array.from({ length: 20 }, () => listen()));
    const refused = await rig.ask(interfaceEventsPath, { key });
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "60" } });
    expect(refused.body).toContain("This key has 20 event streams open");
    expect((await listen({ key: rig.key("other", ["interface-status"]) })).response.statusCode).toBe(200);
  });

  it("spends nothing on a listener that does not read, and sends the others every change", async () => {
    const { listen, become, key } = await machine();
    const deaf = await rig.open(interfaceEventsPath, { key });
    onTestFinished(() => void deaf.destroy());
    deaf.pause();
    const { events } = await listen();
    for (let mtu = 1000; mtu < 1005; mtu++) {
      become(mtu);
      await untilReadAgain();
      const { response } = await listen();
      await expect.poll(() => events().at(-1)?.data.eth0?.mtu).toBe(String(mtu));
      response.destroy();
    }
  });

  it("does not delay the shutdown of the service", async () => {
    const { listen } = await machine();
    const listeners = await Promise.all(Array.from({ length: 20 }, () => listen()));
    await rig.service.close();
    await Promise.all(listeners.map(({ ended }) => ended));
    expect(rig.logged.join("")).not.toContain("could not be closed");
  });
});
