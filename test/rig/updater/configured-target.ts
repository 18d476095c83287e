import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../../src/updater/read-config.ts";
import type { RecordTarget } from "../../../src/updater/targets/target.ts";
import { openTarget } from "../../../src/updater/targets/targets.ts";

/** Opens a target as the updater does: from an entry of a config file. `files` are the secrets that it names. */
export async function openConfigured(
  api: string,
  settings: string,
  files: Readonly<Record<string, string>>,
): Promise<RecordTarget> {
  const folder = mkdtempSync(join(tmpdir(), "moor-target-"));
  for (const [name, content] of Object.entries({ k: "key=k\nsecret=s", ...files })) {
    writeFileSync(join(folder, name), `${content}\n`, { mode: 0o600 });
  }
  const text = `sources: { home: { url: "http://127.0.0.1:1", keyFile: k } }
targets: { dns: { api: ${api}, ${settings} } }
names: [{ name: home, zone: example.org, ipv4: wan0 }]
`;
  writeFileSync(join(folder, "moor.yaml"), text);
  const read = readConfig("moor.yaml", {}, folder);
  rmSync(folder, { recursive: true });
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  const config = read.value.targets.get("dns");
  if (!config) throw new Error("no target");
  return openTarget(config);
}

/** Asks a real service on behalf of a test server. */
export async function forward(base: string, asked: { method: string; path: string; headers: object; body: string }) {
  const headers = Object.fromEntries(
    Object.entries(asked.headers as Record<string, string>).filter(
      ([name]) => !["host", "connection", "content-length"].includes(name),
    ),
  );
  const init = { method: asked.method, headers, ...(asked.body === "" ? {} : { body: asked.body }) };
  const answer = await fetch(base + asked.path, init);
  const text = await answer.text();
  const type = answer.headers.get("content-type");
  const retry = answer.headers.get("retry-after");
  return {
    status: answer.status,
    headers: { ...(type ? { "content-type": type } : {}), ...(retry ? { "retry-after": retry } : {}) },
    body: text,
  };
}
