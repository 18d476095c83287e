import { createHttpClient } from "../../../src/lib/http-client/client.ts";
import { readConfig } from "../../../src/updater/read-config.ts";
import { findRouters } from "../../../src/updater/sources/gateway/find-routers.ts";
import type { AddressSource } from "../../../src/updater/sources/source.ts";
import { openSource } from "../../../src/updater/sources/sources.ts";

/**
 * For tests in a namespace: follows the sources of a config and prints what each says, one line of JSON per reading,
 * until it is stopped. With a channel instead of a config, it answers messages: the name of a config with one reading
 * of each source, `find` with the routers that it finds.
 */
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

async function openAll(file: string): Promise<readonly (readonly [string, AddressSource])[]> {
  const config = readConfig(file, {}, "/");
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const entries = [...config.value.sources.values()];
  return Promise.all(entries.map(async (entry) => [entry.name, await openSource(entry)] as const));
}

const plain = (said: unknown): unknown =>
  JSON.parse(JSON.stringify(said, (_, value) => (value instanceof Map ? [...value] : value)));

async function answer(message: string): Promise<unknown> {
  if (message === "find") return findRouters({ connect: createHttpClient }, stop.signal);
  const said = (await openAll(message)).map(async ([name, source]) => {
    const reading = await source.read(stop.signal);
    source.close();
    return [name, plain(reading)] as const;
  });
  return Object.fromEntries(await Promise.all(said));
}

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.on("message", (message: string) => void answer(message).then((said) => process.send?.(said)));
} else {
  const followed = (await openAll(file)).map(async ([name, source]) => {
    const print = (said: unknown) => console.log(JSON.stringify({ source: name, said: plain(said) }));
    print(await source.follow(print, stop.signal));
    source.close();
  });
  await Promise.all(followed);
}
