import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { interfaceEventsPath } from "../../src/contract/interface-events.ts";

/**
 * Many subscribers of one firewall service, and a device whose address changes. Prints one line of JSON: for each
 * change and subscriber, the milliseconds from the command to `ip` until the change arrived.
 * `node bench/firewall/listeners.ts URL CA-FILE KEY-FILE DEVICE LISTENERS CHANGES`
 */
const [url = "", caFile = "", keyFile = "", device = "", listeners = "", changes = ""] = process.argv.slice(2);
const [, key, secret] = /^key=(.*)\nsecret=(.*)\n/.exec(readFileSync(keyFile, "utf8")) ?? [];
const ca = readFileSync(caFile);

let heard: (() => void) | undefined;
let snapshots = 0;

function listen(): void {
  const options = { ca, auth: `${key}:${secret}`, agent: false } as const;
  get(`${url}${interfaceEventsPath}`, options, (response) => {
    response.setEncoding("latin1").on("data", (text: string) => {
      if (text.includes("event: snapshot")) snapshots += 1;
      if (text.includes("event: change")) heard?.();
    });
  }).on("error", (error) => {
    throw error;
  });
}

for (let count = 0; count < Number(listeners); count++) listen();
while (snapshots < Number(listeners)) await sleep(20);
await sleep(1_000);

const program = "ip";
const ip = spawn(program, ["-batch", "-"], { stdio: ["pipe", "inherit", "inherit"] });
const delays: number[] = [];
for (let change = 0; change < Number(changes); change++) {
  let missing = Number(listeners);
  const all = Promise.withResolvers<void>();
  const before = performance.now();
  heard = () => {
    delays.push(performance.now() - before);
    missing -= 1;
    if (missing === 0) all.resolve();
  };
  ip.stdin.write(`addr ${change % 2 === 0 ? "add" : "del"} 192.0.2.77/24 dev ${device}\n`);
  await Promise.race([all.promise, sleep(5_000)]);
  await sleep(60 + 80 * Math.random());
}
process.stdout.write(`${JSON.stringify(delays)}\n`, () => process.exit());
