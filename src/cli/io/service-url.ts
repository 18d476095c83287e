import { join } from "node:path";
import { readFileIfThere, swapFile } from "../../process/data-folder.ts";

/** A service stores its URL in its data folder, so that `moor sign-in` can print links to it. */
export type NotedService = "records" | "firewall";

const noteIn = (folder: string, service: NotedService): string => join(folder, `${service}.url`);

/** On a full disk the service runs anyway; its links then name the default port. */
export const noteServiceUrl = (folder: string, service: NotedService, url: string): Promise<void> =>
  swapFile(noteIn(folder, service), `${url}\n`).catch(() => undefined);

/** Its URL at the last start; undefined if it was never started. */
export const readServiceUrl = async (folder: string, service: NotedService): Promise<string | undefined> =>
  (await readFileIfThere(noteIn(folder, service)))?.trim();
