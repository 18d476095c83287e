/**
 * The files of `src` whose functions run for one write, from its request to its response, with SQLite and without a
 * thread that writes or a nameserver: `node bench/records/files-of-a-write.ts [set_records]`; default: a v1 PUT. The
 * third write is counted, on a new connection: what is prepared on first use is not.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { type Profiler, Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noLog } from "../../src/process/log.ts";
import { startRecords } from "../../src/records/start.ts";
import { fillStore, type Sample } from "./store.ts";

const isSet = process.argv[2] === "set_records";
const folder = await mkdtemp(join(tmpdir(), "moor-files-"));
const { token, samples } = await fillStore(folder, 2);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const service = await startRecords({
  dataFolder: folder,
  listen: { host: "127.0.0.1", port: 0 },
  names: [],
  nameservers: ["ns1.example.net"],
  log: noLog,
  plainHttp: true,
  callsPerMinute: { caller: 1_000_000, account: 10_000_000 },
});
try {
  for (const value of ["192.0.2.2", "192.0.2.3"]) await write(value);
  // Counts begin anew.
  await session.post("Profiler.takePreciseCoverage");
  await write("192.0.2.4");
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const files = result.filter(({ url }) => url.includes("/src/")).flatMap(namesCalled);
  process.stdout.write(`${files.sort().join("\n")}\n${files.length}\n`);
} finally {
  await service.close();
  await rm(folder, { recursive: true });
}

/** The file and what was called in it; none if only the module itself was loaded. */
function namesCalled({ url, functions }: Profiler.ScriptCoverage): readonly string[] {
  const called = functions.filter(({ ranges: [all] }) => all !== undefined && all.count > 0 && all.startOffset > 0);
  const names = called.map(({ functionName }) => functionName).filter((name) => name !== "");
  return called.length === 0 ? [] : [`${url.replace(/^.*\/src\//, "")}: ${names.join(" ")}`];
}

async function write(value: string): Promise<void> {
  const sample = samples[5] as Sample;
  const [method, path, body] = isSet
    ? ["POST", "/v1/zones/z0.example/rrsets/h3/A/actions/set_records", { records: [{ value, comment: "" }] }]
    : ["PUT", `/api/v1/records/${sample.id}`, { zone_id: sample.zone, type: "A", name: sample.name, value, ttl: 60 }];
  const text = JSON.stringify(body);
  const headers = {
    "content-length": Buffer.byteLength(text),
    ...(isSet ? { authorization: `Bearer ${token}` } : { "auth-api-token": token }),
  };
  const sent = request(`${service.url}${path}`, { method: String(method), headers, agent: false }).end(text);
  const [response] = await once(sent, "response");
  for await (const _ of response);
  if (response.statusCode >= 300) throw new Error(`the write was answered with ${response.statusCode}`);
}
