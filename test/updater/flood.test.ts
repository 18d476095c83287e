import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { fewPerPass, mostUnanswered } from "../../src/lib/http/schedule-requests.ts";
import { countPasses } from "../rig/count-passes.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";
import { startWatcher, type Watcher } from "./watcher.ts";

let loop: Loop;
let watcher: Watcher | undefined;
const closing = new Set<() => void>();
afterEach(async () => {
  for (const close of closing) close();
  closing.clear();
  await watcher?.stop();
  watcher = undefined;
  await loop.close();
});

const get = "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const last = "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
const connections = 12;

/** Sends requests in one write without waiting for answers, and again on a new connection whenever one is closed. */
function flood(port: number, requests: string): void {
  let isOver = false;
  const dial = () => {
    if (isOver) return;
    const socket = connect(port, "127.0.0.1", () => socket.write(requests));
    const end = () => socket.destroy();
    closing.add(end);
    socket.on("error", () => undefined).resume();
    socket.once("close", () => {
      closing.delete(end);
      dial();
    });
  };
  closing.add(() => {
    isOver = true;
  });
  dial();
}

it.each([
  ["as many requests as a client may leave unanswered", get.repeat(mostUnanswered - 1) + last],
  ["thousands of requests", get.repeat(5_000)],
])("an address is written while a client floods the page with %s at a time", async (_, requests) => {
  loop = await openLoop(undefined, undefined, { settings: 'control: { listen: "127.0.0.1:0", token: { file: t } }' });
  const { passes, stop } = countPasses();
  closing.add(stop);
  /** In which pass of the event loop each request to the page was started. */
  const started: number[] = [];
  watcher = await startWatcher(loop, { onAsked: () => void started.push(passes()) });
  await until(() => loop.stored().A === "9.9.9.9" && loop.stored().AAAA === "2a00::9");

  const port = Number(new URL(watcher.page()).port);
  for (let i = 0; i < connections; i++) flood(port, requests);
  await until(() => started.length > 10 * connections);
  const written = Promise.withResolvers<number>();
  loop.says.service = ({ method }) => {
    if (method === "PUT") written.resolve(started.length);
    return undefined;
  };
  loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::10"]) } });
  const before = started.length;
  watcher.check();
  // The flood goes on until the address is written, however long that takes.
  const meanwhile = started.slice(before, await written.promise);
  await until(() => loop.stored().A === "9.9.9.10" && loop.stored().AAAA === "2a00::10");
  const atEnd = started.length;
  await until(() => started.length > atEnd + connections);

  expect(meanwhile.length).toBeGreaterThan(0);
  // Few requests come between two steps of the update. Two passes of the scheduler may be in one of ours.
  const perPass = [...Map.groupBy(started, (pass) => pass).values()].map(({ length }) => length);
  expect(Math.max(...perPass)).toBeLessThanOrEqual(2 * fewPerPass);
});
