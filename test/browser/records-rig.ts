import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { FindDelegation } from "../../src/lib/dns/delegation.ts";
import { createLog } from "../../src/process/log.ts";
import { type RunningRecords, startRecords } from "../../src/records/start.ts";
import { builtPages } from "../rig/bundle.ts";
import { cheapPasswords } from "../rig/cheap-passwords.ts";
import { freePort, isFree } from "../rig/free-port.ts";

export type RecordsRig = {
  readonly folder: string;
  readonly service: () => RunningRecords;
  readonly url: string;
  readonly stop: () => Promise<void>;
  /** Starts it again on the same port. */
  readonly startAgain: () => Promise<void>;
  readonly close: () => Promise<void>;
};

let port: number | undefined;

/** The worker's port, so that the browser has the pages in its cache already; another one while that is in use. */
async function usualPort(): Promise<number> {
  if (port !== undefined && (await isFree(port))) return port;
  port = await freePort();
  return port;
}

/** The record service with its pages, in a separate folder. */
export async function startRecordsRig(now = Date.now, findDelegation?: FindDelegation): Promise<RecordsRig> {
  const folder = await mkdtemp(join(tmpdir(), "moor-console-"));
  const log = createLog({ format: "json", write: () => undefined });
  const port = await usualPort();
  const start = () =>
    startRecords({
      dataFolder: folder,
      listen: { host: "127.0.0.1", port },
      names: [],
      nameservers: ["ns1.example.net", "ns2.example.net"],
      log,
      now,
      pages: builtPages(),
      passwordCost: cheapPasswords,
      ...(findDelegation && { findDelegation }),
    });
  let service = await start();
  const { url } = service;
  return {
    folder,
    url,
    service: () => service,
    stop: () => service.close(),
    startAgain: async () => {
      service = await start();
    },
    close: async () => {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Signs in with a link from the terminal, as a user does. */
export async function signInByLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in with this link" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

/** Signs in without a page, which would cost time. */
export async function signInContext(context: BrowserContext, link: string): Promise<void> {
  const { origin, hash } = new URL(link);
  const data = { link: hash.slice(1) };
  const answer = await context.request.post(`${origin}/console/sign-in-link`, { headers: { origin }, data });
  expect(answer.status()).toBe(204);
}
