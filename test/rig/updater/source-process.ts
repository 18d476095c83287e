import { createHttpClient } from "../../../src/lib/http-client/client.ts";
import { readConfig } from "../../../src/updater/read-config.ts";
import { findRouters } from "../../../src/updater/sources/gateway/find-routers.ts";
import { openSource } from "../../../src/updater/sources/sources.ts";

/**
 * For tests in a namespace: opens the sources of a config and prints what each says, one line of JSON per reading. With
 * `follow`, it goes on until it is stopped; with `find`, it prints the routers that it finds.
 */
const [file = "", verb = "read"] = process.argv.slice(2);
if (verb === "find") {
  const routers = await findRouters({ connect: createHttpClient }, new AbortController().signal);
  console.log(JSON.stringify(routers));
  process.exit();
}
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const config = readConfig(file, {}, "/");
if (!config.ok) throw new Error(JSON.stringify(config.faults));
await Promise.all(
  [...config.value.sources.values()].map(async (entry) => {
    const source = await openSource(entry);
    const print = (said: unknown) =>
      console.log(
        JSON.stringify({ source: entry.name, said }, (_, value) => (value instanceof Map ? [...value] : value)),
      );
    print(verb === "follow" ? await source.follow(print, stop.signal) : await source.read(stop.signal));
    source.close();
  }),
);
