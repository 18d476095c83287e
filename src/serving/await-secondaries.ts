import { lookup, Resolver } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { bracketed } from "../core/addresses/address.ts";
import type { ListenAddress } from "../lib/http/listen.ts";

/** Milliseconds. */
export type AwaitLimits = { readonly inAll: number; readonly perQuestion: number; readonly interval: number };

const defaultLimits: AwaitLimits = { inAll: 60_000, perQuestion: 2_000, interval: 500 };

/**
 * Waits until the nameservers that are notified of changes serve these TXT values: a certificate authority may query
 * any of them. A server that does not answer is skipped, and after a minute the wait ends: the authority then reports
 * what it found.
 */
export const awaitSecondaries =
  (targets: readonly ListenAddress[], limits = defaultLimits) =>
  async (name: string, values: readonly string[]): Promise<void> => {
    const end = performance.now() + limits.inAll;
    const serves = async (target: ListenAddress): Promise<void> => {
      while (performance.now() < end) {
        const texts = await readTxt(target, name, limits.perQuestion);
        if (texts === "no answer" || values.every((value) => texts.includes(value))) return;
        await sleep(limits.interval);
      }
    };
    await Promise.all(targets.map(serves));
  };

async function readTxt({ host, port }: ListenAddress, name: string, timeout: number) {
  try {
    const resolver = new Resolver({ timeout, tries: 1 });
    resolver.setServers([`${bracketed((await lookup(host)).address)}:${port}`]);
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(""));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOTFOUND" || code === "ENODATA" ? [] : "no answer";
  }
}
