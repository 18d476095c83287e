import type { Example } from "../../contract/overview.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";
import { curlForInterfaces, curlForRecords } from "../io/try-lines.ts";
import type { Trial } from "./prepare.ts";

/** Commands to try. `path` writes the path of a file: relative for the user in this terminal, or absolute. */
export function examplesOf(
  trial: Trial,
  urls: { readonly records: string; readonly firewall: string; readonly dns: ListenAddress; readonly caFile: string },
  program: string,
  path: (file: string) => string,
): readonly Example[] {
  const configFile = shellWord(path(trial.configFile));
  const caFile = path(urls.caFile);
  const { host, port } = urls.dns;
  return [
    {
      about: "look up the name at the nameserver",
      command: `dig +short @${host} -p ${port} ${trial.name}.${trial.zone} A ${trial.name}.${trial.zone} AAAA`,
    },
    {
      about: "the records, from the record service",
      command: curlForRecords({ url: urls.records, caFile, tokenFile: path(trial.tokenFile) }),
    },
    {
      about: "the interfaces, from the firewall status service",
      command: curlForInterfaces({ url: urls.firewall, caFile, keyFile: path(trial.keyFile) }),
    },
    {
      about: "every address of this machine, and which one is used and why",
      command: `${program} interfaces --config ${configFile}`,
    },
    {
      about: "the records of the zone, as a table",
      command: `${program} record list ${trial.zone} --config ${configFile}`,
    },
    { about: "the config of the updater, with its comments", command: `cat ${configFile}` },
  ];
}
