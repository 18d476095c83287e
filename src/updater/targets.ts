import type { TargetConfig } from "./config.ts";
import type { HttpClient } from "./http-client.ts";
import type { RecordTarget } from "./target.ts";

type OpenTarget = (config: TargetConfig, client: HttpClient) => Promise<RecordTarget>;

/** Every API that records are written through, loaded on use. */
const apis: Readonly<Record<string, OpenTarget>> = {
  v1: async (config, client) => (await import("./target-v1.ts")).createV1Target(config, client),
};

export const targetApis: readonly string[] = Object.keys(apis);

export async function openTarget(config: TargetConfig): Promise<RecordTarget> {
  const open = apis[config.api];
  if (!open) throw new Error(`no target with the api ${config.api}`);
  const { createHttpClient } = await import("./http-client.ts");
  return open(config, await createHttpClient(config));
}
