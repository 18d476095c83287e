import { join } from "node:path";
import { isObject } from "../../core/is-object.ts";
import { readFileIfThere, swapFile } from "../../process/data-folder.ts";
import { type Publisher, placeholderNameservers } from "../../records/options.ts";

const noteIn = (folder: string): string => join(folder, "records.publisher.json");

/**
 * A service stores in its data folder what new zones get, for the commands that create zones there. On a full disk it
 * runs anyway.
 */
export const notePublisher = (folder: string, { nameservers, hostmaster }: Publisher): Promise<void> =>
  swapFile(noteIn(folder), `${JSON.stringify({ nameservers, hostmaster })}\n`).catch(() => undefined);

/** As at the last start of the service. */
export async function readPublisher(folder: string): Promise<Publisher> {
  const noted: unknown = JSON.parse((await readFileIfThere(noteIn(folder))) ?? "{}");
  const { nameservers, hostmaster } = isObject(noted) ? noted : {};
  const [first, ...others] = Array.isArray(nameservers) ? nameservers.map(String) : [];
  return {
    nameservers: first === undefined ? placeholderNameservers : [first, ...others],
    hostmaster: typeof hostmaster === "string" ? hostmaster : undefined,
  };
}
