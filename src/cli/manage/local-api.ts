import { resolve } from "node:path";
import { wholeAccount } from "../../core/may.ts";
import { createHttpServer } from "../../lib/http/server.ts";
import { createLog } from "../../process/log.ts";
import { rrsetsApi } from "../../records/api/rrsets/routes.ts";
import { openStore } from "../../records/open-store.ts";
import { createRecordService } from "../../records/service.ts";
import type { CommandIo } from "../io/command-io.ts";
import { readPublisher } from "../records/publisher.ts";
import { findStore } from "../store/with-store.ts";
import type { ManageOptions, RecordsApi } from "./records-api.ts";

/** In bytes. No other client waits here, so a zone may be as large as a store can hold. */
const largestBody = 256 * 1024 * 1024;

/**
 * The store of this machine, behind the same API as that of a service; it may be running. Undefined after printing why
 * not.
 */
export async function openLocalApi(options: ManageOptions, io: CommandIo): Promise<RecordsApi | undefined> {
  const data = options.data ?? "./moor-data";
  const log = createLog({ format: "text", level: "silent", write: io.err });
  const { store, signer, close } = await openStore(await findStore({ ...options, data }, io), log);
  try {
    const account = await store.ensureAccount(options.account, Date.now());
    const actor = { account: account.id, label: "operator", scope: wholeAccount };
    const publisher = await readPublisher(resolve(io.cwd, data));
    const service = createRecordService({ store, now: Date.now, signer, ...publisher });
    const server = createHttpServer({ bodyLimit: largestBody });
    const api = rrsetsApi({ service, store, now: Date.now, log, signedIn: async () => actor, largestBody });
    await server.register(api, { prefix: "/v1" });
    return {
      isLocal: true,
      async send(method, path, body) {
        const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
        const headers = { "content-type": "application/json" };
        const answer = await server.inject({ method, url: `/v1${path}`, headers, ...payload });
        return { status: answer.statusCode, body: answer.payload === "" ? {} : answer.json() };
      },
      async close() {
        await server.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
