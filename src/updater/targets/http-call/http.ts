import type { TargetKind } from "../target.ts";
import { type HttpTarget, httpSettings } from "./http-settings.ts";
import { createHttpTarget } from "./http-target.ts";

export const http = {
  ...httpSettings,
  can: { create: false, ttl: false },
  open: async (config: HttpTarget, connect) => createHttpTarget(config.call, await connect(config)),
} satisfies TargetKind<HttpTarget>;
