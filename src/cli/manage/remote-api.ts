import { fieldsOfJson } from "../../core/is-object.ts";
import { createHttpClient } from "../../lib/http-client/client.ts";
import type { TargetConfig } from "../../updater/config/kinds.ts";
import type { TokenTarget } from "../../updater/targets/token-target.ts";
import type { CommandIo } from "../io/command-io.ts";
import { loadConfigInUse, pickOne } from "../update/load-config.ts";
import type { ManageOptions, RecordsApi } from "./records-api.ts";

/** These speak the record-set API; `moor records` does so beside v1, with the same token. */
const apis = ["rrsets", "hetzner", "v1"];

/** The service of a target in the config, with its token; undefined after printing why not. */
export async function openRemoteApi(options: ManageOptions, io: CommandIo): Promise<RecordsApi | undefined> {
  const config = loadConfigInUse(options.config, io);
  if (config === undefined) {
    io.err("For the store of this machine, give the service's data folder with --data instead.\n");
    return undefined;
  }
  const target = pickOne("target", config.targets, options.target, { file: config.file, io });
  if (target === undefined) return undefined;
  if (!isTokenTarget(target)) {
    io.err(`This command works with Hetzner and with moor records; the target's api is ${target.api}\n`);
    return undefined;
  }
  const client = await createHttpClient(target, { timeoutMs: 120_000, maxBytes: 64 * 1024 * 1024 });
  const base = /\/v1\/?$/.test(target.url.pathname) ? "" : "/v1";
  return {
    async send(method, path, body) {
      const headers = { authorization: `Bearer ${target.token()}`, "content-type": "application/json" };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const outcome = await client.send({ method, path: base + path, headers, ...text }, io.signal);
      if (outcome.kind === "failed") throw new Error(`${outcome.because}; ${outcome.todo}`);
      return { status: outcome.status, body: fieldsOfJson(outcome.body) };
    },
    close: async () => client.close(),
  };
}

/**
 * False if the config's target has another API, which can only list. What is wrong with the config is said by who opens
 * it.
 */
export function hasRecordsApi(options: ManageOptions, io: CommandIo): boolean {
  const silent = { ...io, err: () => undefined };
  const config = loadConfigInUse(options.config, silent);
  const target = config && pickOne("target", config.targets, options.target, { file: config.file, io: silent });
  return target === undefined || isTokenTarget(target);
}

const isTokenTarget = (target: TargetConfig): target is TokenTarget => apis.includes(target.api);
