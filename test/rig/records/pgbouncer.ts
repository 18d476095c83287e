import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import type { PostgresServer } from "../postgres.ts";
import { startProcess } from "../started-process.ts";

export type PgBouncer = { readonly port: number; readonly stop: () => Promise<void> };

/** PgBouncer on a free port, in front of a server; `settings` as in pgbouncer.ini. */
export async function startPgBouncer(server: PostgresServer, settings: readonly string[]): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), "moor-pgbouncer-"));
  const port = await freePort();
  const { username, password } = new URL(server.url());
  const config = join(folder, "pgbouncer.ini");
  await writeFile(
    config,
    ["[databases]", `* = host=127.0.0.1 port=${server.port} user=${username} password=${password}`, "[pgbouncer]"]
      .concat("listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "auth_type = any", settings, "")
      .join("\n"),
  );
  // It refuses to run as root; the user it runs as must be able to read its config.
  await chmod(folder, 0o755);
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const bouncer = startProcess(["/usr/sbin/pgbouncer", ...user, config], {});
  const stop = async () => {
    // With other signals it may wait until all clients have disconnected.
    await bouncer.stop("SIGQUIT");
    await rm(folder, { recursive: true });
  };
  try {
    await bouncer.says(/process up/);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}
