import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { startFirewall } from "../firewall/start.ts";
import type { ListenAddress } from "../process/http-server.ts";
import type { CommandIo } from "./command-io.ts";
import { logTo } from "./log-to.ts";
import type { LogOptions } from "./options.ts";
import { curlForInterfaces, shellWord } from "./try-lines.ts";
import { untilStopped } from "./until-stopped.ts";

export type FirewallCommand = LogOptions & {
  readonly data: string;
  readonly listen: ListenAddress;
  readonly name: readonly string[];
};

export async function firewall(options: FirewallCommand, io: CommandIo): Promise<number> {
  const data = resolve(io.cwd, options.data);
  const service = await startFirewall({
    dataFolder: data,
    listen: options.listen,
    names: options.name,
    log: logTo(io, options),
  });
  const keyFile = join(data, "firewall-key.txt");
  io.out(`The firewall status service listens on ${service.url}\n`);
  io.out(`Clients must trust the certificate in ${service.caFile}\n`);
  io.out("Try it:\n");
  if (!(await isThere(keyFile)))
    io.out(`  ${io.program} key add --data ${shellWord(data)} --to ${shellWord(keyFile)}\n`);
  io.out(`  ${curlForInterfaces({ url: service.url, caFile: service.caFile, keyFile })}\n`);
  await untilStopped(io.signal);
  await service.close();
  return 0;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
