import { join } from "node:path";
import { readFileIfThere, swapFile } from "./data-folder.ts";

/** A service writes down in its data folder where it is, so that `moor sign-in` can print links to it. */
export type NotedService = "records" | "firewall";

const noteIn = (folder: string, service: NotedService): string => join(folder, `${service}.url`);

/** On a full disk the service runs anyway; its links then name the default port. */
export const noteServiceUrl = (folder: string, service: NotedService, url: string): Promise<void> =>
  swapFile(noteIn(folder, service), `${url}\n`).catch(() => undefined);

/** Where it was when it was last started. Undefined if it never was. */
export const readServiceUrl = async (folder: string, service: NotedService): Promise<string | undefined> =>
  (await readFileIfThere(noteIn(folder, service)))?.trim();
