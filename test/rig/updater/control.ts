import { createLog } from "../../../src/process/log.ts";
import type { ControlConfig } from "../../../src/updater/config/outlets.ts";
import { type ControlTools, createControl } from "../../../src/updater/page/control.ts";
import { createPageListener } from "../../../src/updater/page/listener.ts";

export type OpenControl = { readonly url: string; readonly port: number; readonly close: () => Promise<void> };

/** The updater's port on loopback, without an updater. */
export async function openControl(tools: ControlTools, more: Partial<ControlConfig> = {}): Promise<OpenControl> {
  const listener = createPageListener(createLog({ format: "json", write: () => undefined }));
  const control = { host: "127.0.0.1", port: 0, token: () => "tok", ...more };
  const url = await listener.serve({ control, stateFile: tools.of.stateFile }, createControl(control, tools));
  if (url === undefined) throw new Error("the port could not be opened");
  return { url, port: Number(new URL(url).port), close: listener.close };
}
