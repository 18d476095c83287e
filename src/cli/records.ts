import { resolve } from "node:path";
import type { ListenAddress } from "../process/http-server.ts";
import { startRecords } from "../records/start.ts";
import type { CommandIo } from "./command-io.ts";
import { logTo } from "./log-to.ts";
import type { LogOptions } from "./options.ts";
import { shellWord } from "./try-lines.ts";
import { untilStopped } from "./until-stopped.ts";

export type RecordsCommand = LogOptions & {
  readonly data: string;
  readonly listen: ListenAddress;
  readonly name: readonly string[];
  readonly nameserver: readonly string[];
  readonly plainHttp?: boolean;
};

/** What stands in the SOA of a new zone until an operator says which servers publish it. */
export const unsetNameservers = ["ns1.moor.invalid", "ns2.moor.invalid"] as const;

export async function records(options: RecordsCommand, io: CommandIo): Promise<number> {
  const log = logTo(io, options);
  const [first, ...others] = options.nameserver;
  const service = await startRecords({
    dataFolder: resolve(io.cwd, options.data),
    listen: options.listen,
    names: options.name,
    nameservers: first === undefined ? unsetNameservers : [first, ...others],
    log,
    plainHttp: options.plainHttp ?? false,
  });
  io.out(`The record service listens on ${service.url}\n`);
  io.out(`Its API is described at ${service.url}/docs\n`);
  if (!options.plainHttp) io.out(`Clients must trust the certificate in ${service.caFile}\n`);
  io.out(`A token for it is made with: ${io.program} token add --data ${shellWord(options.data)}\n`);
  await untilStopped(io.signal);
  await service.close();
  return 0;
}
