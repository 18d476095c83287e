import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Cable, layCable } from "../../../test/rig/cable.ts";
import { type PostgresServer, startPostgres } from "../../../test/rig/postgres.ts";
import { until } from "../../../test/rig/until.ts";
import { noLog } from "../../process/log.ts";
import { type ListenOptions, listenTo, type NotificationListener } from "./session.ts";

let server: PostgresServer;
let cable: Cable;
let open: NotificationListener | undefined;

beforeAll(async () => {
  server = await startPostgres();
  cable = await layCable(server.port);
});
afterEach(async () => {
  await open?.close();
  open = undefined;
});
afterAll(async () => {
  await cable.close();
  await server.stop();
});

const log = noLog;

function listen(options: Partial<ListenOptions> = {}) {
  const heard: string[] = [];
  const gaps = { seen: 0 };
  const listening = listenTo({
    connect: () => server.connect("postgres", cable.port),
    channels: ["tide", "wind"],
    onNotice: (channel, payload) => heard.push(`${channel}: ${payload}`),
    onGap: () => {
      gaps.seen += 1;
    },
    log,
    ...options,
  });
  open = listening;
  const begun = (times: number) =>
    until(() => gaps.seen >= times && listening.isUp(), {
      what: () => `${times} beginnings, not ${gaps.seen}`,
    });
  return { listening, heard, begun };
}

async function say(...notices: readonly [channel: string, payload: string][]): Promise<void> {
  const client = await server.connect();
  for (const [channel, payload] of notices) await client.query("SELECT pg_notify($1, $2)", [channel, payload]);
  await client.end();
}

const hears = (heard: readonly string[], notice: string) =>
  until(() => heard.includes(notice), { what: () => `${notice} in ${heard.join(", ")}` });

describe("listening to PostgreSQL", () => {
  it("receives notifications of its channels, and no others", async () => {
    const { heard, begun } = listen();
    await begun(1);
    await say(["tide", "in"], ["rain", "no"], ["wind", "up"]);
    await hears(heard, "wind: up");
    expect(heard).toEqual(["tide: in", "wind: up"]);
  });

  it("begins again, and reports the gap, after its connection was terminated", async () => {
    const { heard, begun } = listen();
    await begun(1);
    const client = await server.connect();
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    await client.end();
    await begun(2);
    await say(["tide", "back"]);
    await hears(heard, "tide: back");
    expect(heard).toEqual(["tide: back"]);
  });

  it("notices that the server has vanished, and that it is back", async () => {
    const { listening, heard, begun } = listen();
    await begun(1);
    cable.silence();
    await until(() => !listening.isUp(), { what: () => "the loss" });
    cable.mend();
    await begun(2);
    await say(["wind", "calm"]);
    await hears(heard, "wind: calm");
    expect(heard).toEqual(["wind: calm"]);
  });

  it("begins again after a restart of the server", async () => {
    const { heard, begun } = listen();
    await begun(1);
    await server.restart("crash");
    await begun(2);
    await say(["tide", "again"]);
    await hears(heard, "tide: again");
    expect(heard).toEqual(["tide: again"]);
  });

  it("closes while the server is unreachable", async () => {
    const never = () => new Promise<never>(() => undefined);
    const { listening } = listen({ connect: never, timing: { patience: 600_000 } });
    await listening.close();
    expect(listening.isUp()).toBe(false);
  });
});
