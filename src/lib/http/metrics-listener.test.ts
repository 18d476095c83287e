import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createHealth } from "../../process/health.ts";
import { openProcessMetrics } from "../../process/metrics.ts";
import { type ListenAddress, urlOf } from "./listen.ts";
import { type MetricsListener, openMetricsListener } from "./metrics-listener.ts";

describe("the listener for operators", () => {
  let listener: MetricsListener;
  afterEach(() => listener.close());

  const open = async (print = async () => "moor_x 1\n", host = "127.0.0.1") => {
    const health = createHealth();
    listener = await openMetricsListener({ host, port: 0 }, { print, health });
    return { health, url: urlOf(listener.address, "http") };
  };

  it("serves metrics and health, and nothing else", async () => {
    const { url, health } = await open();
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await metrics.text()).toBe("moor_x 1\n");
    expect(await (await fetch(`${url}/health/live`)).json()).toEqual({ live: true });
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    health.add("store", () => "the disk is full");
    const ready = await fetch(`${url}/health/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ parts: { store: { ok: false, because: "the disk is full" } } });
    expect((await fetch(`${url}/v1/zones`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
  });

  it("answers 500 when the metrics cannot be collected", async () => {
    const { url } = await open(() => Promise.reject(new Error("no store")));
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
  });

  it.each([
    ["127.0.0.1", 200],
    ["localhost:9054", 200],
    ["evil.example", 403],
    ["127.0.0.1.evil.example", 403],
  ])("on loopback, answers a request for the host %s with %d", async (name, status) => {
    await open();
    expect(await statusFor(listener.address, name)).toBe(status);
  });

  it("elsewhere, answers requests for any host", async () => {
    await open(undefined, "0.0.0.0");
    expect(await statusFor({ ...listener.address, host: "127.0.0.1" }, "node1.example")).toBe(200);
  });

  it("says why it cannot listen, and what to change", async () => {
    await open();
    const again = openMetricsListener(listener.address, { print: async () => "", health: createHealth() });
    await expect(again).rejects.toThrow(/in use by another program.*--metrics HOST:PORT/);
  });
});

it("reports the process metrics that dashboards use", () => {
  const metrics = openProcessMetrics("1.2.3");
  const text = metrics.print();
  metrics.close();
  expect(text).toContain(`moor_build_info{version="1.2.3",node="${process.version}"} 1\n`);
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  expect(value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(value("process_cpu_user_seconds_total")).toBeGreaterThan(0);
  expect(value("nodejs_eventloop_lag_max_seconds")).toBeGreaterThanOrEqual(0);
  expect(text).not.toContain("NaN");
});

function statusFor({ host, port }: ListenAddress, name: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host, port, path: "/metrics", headers: { host: name } };
    request(options, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
}
