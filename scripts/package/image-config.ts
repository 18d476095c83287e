import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "./architecture.ts";
import { userId } from "./image-tree.ts";
import { repository, sourceDate, version } from "./reproducible.ts";

export const label = (name: string): string => `org.opencontainers.image.${name}`;

const second = 1_000_000_000;

/** The default command of a container: the record service with its nameserver. */
const records = ["records", "--data", "/data", "--listen", "0.0.0.0:8053", "--dns", "0.0.0.0:5300"];
const metrics = ["--metrics", "127.0.0.1:9054"];

/**
 * Of `moor records` with the options above, or of `moor update` with a config from `moor init`. With a password, the
 * updater speaks HTTPS, which busybox cannot; then it is enough that it answers, with the 400 that says so.
 */
const healthCheck =
  "wget -q -O /dev/null http://127.0.0.1:9054/health/live || " +
  "said=$(wget -q -O /dev/null http://127.0.0.1:9053/health/live 2>&1) || " +
  "case $said in *' 400 '*) ;; *) exit 1 ;; esac";

/** https://github.com/opencontainers/image-spec/blob/main/config.md; `Healthcheck` is Docker's addition to it. */
export function imageConfig(architecture: Architecture, layers: readonly string[]): object {
  const { description, license } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  const created = new Date(sourceDate() * 1000).toISOString();
  return {
    created,
    architecture,
    os: "linux",
    config: {
      User: `${userId}:${userId}`,
      WorkingDir: "/data",
      Volumes: { "/data": {} },
      Env: ["PATH=/usr/bin:/usr/sbin", "HOME=/data"],
      Entrypoint: ["/usr/bin/moor"],
      Cmd: [...records, ...metrics],
      ExposedPorts: { "8053/tcp": {}, "5300/tcp": {}, "5300/udp": {} },
      StopSignal: "SIGTERM",
      Healthcheck: {
        Test: ["CMD", "/bin/sh", "-c", healthCheck],
        ...{ Interval: 30 * second, Timeout: 10 * second, StartPeriod: 30 * second, Retries: 3 },
      },
      Labels: {
        [label("title")]: "moor",
        [label("description")]: description,
        [label("version")]: version,
        [label("licenses")]: license,
        [label("created")]: created,
      },
    },
    rootfs: { type: "layers", diff_ids: layers },
    history: ["Node and Debian packages", "moor"].map((text) => ({ created, created_by: text })),
  };
}
