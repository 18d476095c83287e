import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { interfaceEventsPath } from "../../src/contract/interface-events.ts";
import { isLongRun } from "../rig/long-run.ts";
import { createRandom, type Random } from "../rig/random.ts";
import { realPause } from "../rig/real-pause.ts";
import { seed } from "../rig/seed.ts";
import { until } from "../rig/until.ts";
import { createBroken } from "./broken-requests.ts";
import { createRequests, type Description, oddParts } from "./invented-requests.ts";
import { type StartedService, startEachService } from "./started-services.ts";

/** Short in every run; `MOOR_HOSTILE=2000000` for the long form. */
const requests = Number(process.env.MOOR_HOSTILE ?? 20_000) / 100;

const paths = {
  records: ["/", "/assets/x", "/zones/1", "/docs/json", "/health/ready", "/console/session", "/console/tokens"].concat([
    "/api/v1/zones",
    "/api/v1/records/bulk",
    "/v1/zones/1/rrsets",
    "/v1/events",
    "/nic/update",
  ]),
  firewall: ["/", "/assets/x", "/users", "/console/people", "/console/events", "/console/users/x/keys"].concat([
    "/api/diagnostics/interface/getinterfaceconfig",
    interfaceEventsPath,
  ]),
  updater: ["/", "/assets/x", "/status", "/metrics", "/health/live", "/check", "/page/status"],
} as const;
const names = ["records", "firewall", "updater"] as const;
/** For each service, a path that it answers with 200. */
const good = {
  records: "/v1/zones",
  firewall: "/api/diagnostics/interface/getinterfaceconfig",
  updater: "/status",
} as const;

let folder: string;
let services: Readonly<Record<(typeof names)[number], StartedService>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-hostile-"));
  services = await startEachService(folder);
  for (const name of names) await until(() => answersWell(name), { what: () => name });
});
afterAll(async () => {
  await Promise.all(names.map((name) => services?.[name].process.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function answersWell(name: (typeof names)[number]): Promise<boolean> {
  const agent = services[name].newAgent();
  const asked = services[name].ask({ method: "GET", path: good[name], headers: {} }, agent);
  return await asked
    .then(
      ({ status }) => status === 200,
      () => false,
    )
    .finally(() => agent.destroy());
}

describe(`hostile requests (MOOR_SEED=${seed})`, () => {
  it(`${requests} invented ones are all answered, and none with an internal error of the record service`, async () => {
    const { ask, newAgent } = services.records;
    const agent = newAgent();
    const { body } = await ask({ method: "GET", path: "/docs/json", headers: {} }, agent);
    const zone = await ask(
      {
        method: "POST",
        path: "/v1/zones",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          name: "hostile.example",
          mode: "primary",
          rrsets: [{ name: "home", type: "A", records: [{ value: "192.0.2.1" }] }],
        }),
      },
      agent,
    );
    expect(zone.status).toBe(201);
    const invent = createRequests(createRandom(seed), JSON.parse(body) as Description, [
      ...["1", "2", "home", "A", "TXT", "hostile.example"],
    ]);
    const failures: string[] = [];
    for (let i = 0; i < requests; i++) {
      const request = invent();
      const answer = await ask(request, agent);
      if (answer.status >= 500) failures.push(`${JSON.stringify(request).slice(0, 1_000)}: ${answer.body}`);
    }
    agent.destroy();
    expect(failures).toEqual([]);
  });

  it.each(names)("all nearly correct paths are answered: %s", async (name) => {
    const { ask, newAgent } = services[name];
    const agent = newAgent();
    const failures: string[] = [];
    const forms = (right: string, at: number) =>
      oddParts.flatMap((part, which) =>
        nearly(right, part).filter((_, form) => isLongRun || form === (at + which) % 4),
      );
    for (const path of paths[name].flatMap(forms)) {
      const { status, body } = await ask({ method: "GET", path, headers: {} }, agent);
      if (status >= 500) failures.push(`${path.slice(0, 200)}: ${body}`);
    }
    agent.destroy();
    expect(failures).toEqual([]);
  });

  it.each(names)("the connection can be reused after a request that is too long: %s", async (name) => {
    const { ask, newAgent } = services[name];
    const statuses: [path: string, long: boolean, next: number][] = [];
    for (const path of paths[name]) {
      const agent = newAgent();
      const long = { method: "POST", path, headers: { "content-type": "application/json" }, body: "x".repeat(100_000) };
      const first = await ask(long, agent);
      const next = await ask({ method: "GET", path: good[name], headers: {} }, agent);
      statuses.push([path, first.status < 500, next.status]);
      agent.destroy();
    }
    expect(statuses).toEqual(paths[name].map((path) => [path, true, 200]));
  });

  it.each(names)("broken requests and connections do no harm: %s", async (name) => {
    const random = createRandom(seed);
    const broken = createBroken(random, paths[name], services[name].secret);
    const many = async (count: number) => {
      for (let i = 0; i < count; i++) await overOneConnection(services[name], random, broken);
    };
    await Promise.all(Array.from({ length: 8 }, () => many(requests / 40)));
    expect(await answersWell(name)).toBe(true);
    expect(`${services[name].process.out()}${services[name].process.err()}`).not.toMatch(/request failed|^ +at /m);
  });
});

/** With a different last part, and with one more. Only a long run tries each path with each part in both forms. */
const nearly = (path: string, part: string) => [path.replace(/[^/]*$/, part), `${path}/${part}`];

async function overOneConnection({ connect }: StartedService, random: Random, broken: () => Buffer): Promise<void> {
  const socket = connect();
  socket.on("error", () => undefined);
  if (random(20) > 0) socket.resume();
  await Promise.race([
    once(socket, "connect"),
    realPause(3_000, "a full service may never accept the connection"),
  ]).catch(() => undefined);
  for (let left = random(4); left >= 0 && !socket.destroyed; left--) {
    socket.write(broken());
    if (random(3) === 0) await realPause(random(20), "a random moment");
  }
  if (random(2) === 0) {
    socket.end();
    await realPause(random(30), "a random moment");
  }
  socket.destroy();
}
