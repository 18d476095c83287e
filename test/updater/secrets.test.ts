import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { type Asked, startServer, type TestServer, wanWith } from "../rig/updater/services.ts";
import { startWatcher, type Watcher } from "./watcher.ts";

const token = "tK9/vQ2xL7mN+pR5tW8yB1dF4hJ6sA3z";
const key = "kY7uE4cRq8ZbN2mV";
const secret = "sC5wX1oPt9GhL3jD";
const hookPath = "/hooks/hU8iO2pAsD4fGhJk";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const spellingsOf = (each: string): readonly string[] => [
  ...[each, encodeURIComponent(each), base64(each), base64(`x:${each}`), JSON.stringify({ [each]: each })],
  ...[`pre${each}post`, `${each.slice(0, 9)}\n ${each.slice(9)}`, Array.from(each).join(" "), each.toUpperCase()],
];

let loop: Loop;
let hook: TestServer;
let watcher: Watcher;
afterEach(async () => {
  await watcher.stop();
  await Promise.all([hook.close(), loop.close()]);
});

async function watchWith(api: "v1" | "rrsets") {
  hook = await startServer(() => ({ body: {} }));
  const settings = `interval: 1s
control: { listen: "127.0.0.1:0", token: { file: t } }
notify: [{ kind: webhook, url: "${hook.url}${hookPath}", token: { file: t } }]`;
  loop = await openLoop(undefined, undefined, { api, settings });
  writeFileSync(join(loop.folder, "k"), `key=${key}\nsecret=${secret}\n`, { mode: 0o600 });
  writeFileSync(join(loop.folder, "t"), `${token}\n`, { mode: 0o600 });
  watcher = await startWatcher(loop);
}

/** Requests rounds until `holds` is true. */
const roundsUntil = (holds: () => boolean) =>
  until(() => {
    watcher.check();
    return holds() && JSON.stringify(watcher.lines).includes("(hidden)");
  });

/** Log, history, notices and the answers of its port. */
async function letOut(): Promise<readonly string[]> {
  const paths = ["status", "metrics", "health/ready", "page/state", "page/decisions", "page/config", "page/published"];
  const pages = await Promise.all(paths.map((path) => watcher.ask(path)));
  const history = readFileSync(loop.config.historyFile, "utf8");
  return [JSON.stringify(watcher.lines), history, ...hook.asked.map(({ body }) => body), ...pages];
}

function expectNone(texts: readonly string[], secrets: readonly string[]) {
  const readable = texts.map((text) => text.replaceAll(/[\s\\"]/g, "").toLowerCase()).join("\n");
  for (const each of secrets) {
    for (const part of [each, each.slice(0, 8), encodeURIComponent(each), base64(each).slice(0, 12)]) {
      expect(readable).not.toContain(part.toLowerCase());
    }
  }
}

describe.each(["v1", "rrsets"] as const)("no secret leaks, whatever a service echoes (%s)", (api) => {
  it("the record service's token, in its errors and its data", async () => {
    const said = spellingsOf(token);
    let turn = 0;
    const answers = [401, 403, 404, 409, 422, 500].flatMap((status) =>
      said.map((text) => ({
        ...{ status, headers: { location: `/?t=${encodeURIComponent(text)}`, "x-token": base64(text) } },
        body: { message: text, error: { message: text, code: status === 422 ? text : status } },
      })),
    );
    await watchWith(api);
    loop.says.service = ({ method }: Asked) => {
      if (method === "GET" && turn % 5 === 4) {
        turn += 1;
        return {
          body: { rrset: { name: token, type: "A", records: [{ value: token }] }, zones: [{ id: token, name: token }] },
        };
      }
      return { headers: { "retry-after": "0" }, ...answers[turn++ % answers.length] };
    };
    await roundsUntil(() => turn > answers.length);
    expectNone(await letOut(), [token, key, secret, hookPath.slice(7)]);
  });

  it("the firewall's key and secret, in its report", async () => {
    const names = [key, secret].flatMap(spellingsOf);
    await watchWith(api);
    let turn = 0;
    loop.says.firewall = () => {
      const name = names[(turn++ >> 1) % names.length] ?? "";
      // The same text appears as the name of an interface, and in the next round as an address.
      const [known, address] = [{ [name]: wanWith([], []) }, { wan0: wanWith([name], [name]) }];
      return { body: turn % 2 === 0 ? known : address };
    };
    await roundsUntil(() => turn > 2 * names.length);
    expectNone(await letOut(), [token, key, secret, base64(`${key}:${secret}`)]);
  });
});
