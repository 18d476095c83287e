import { relative } from "node:path";
import { shellWord } from "../../core/shell-word.ts";
import type { StorePlace } from "../../records/open-store.ts";
import type { DatabaseOptions } from "./database-options.ts";

/**
 * Lines to paste. curl reads the secret from a pipe: on its command line, every user of the machine could see it.
 */

export function curlForInterfaces(where: { url: string; caFile: string; keyFile: string }): string {
  const asConfig = `sed -n 'N;s/^key=\\(.*\\)\\nsecret=\\(.*\\)$/user = "\\1:\\2"/p' ${shellWord(where.keyFile)}`;
  const url = `${where.url}/api/diagnostics/interface/getinterfaceconfig`;
  return `${asConfig} | curl -sS --config - --cacert ${shellWord(where.caFile)} ${shellWord(url)}`;
}

export function curlForRecords(where: { url: string; caFile: string; tokenFile: string }): string {
  const asHeader = `sed 's/^/Auth-API-Token: /' ${shellWord(where.tokenFile)}`;
  return `${asHeader} | curl -sS -H @- --cacert ${shellWord(where.caFile)} ${shellWord(`${where.url}/api/v1/records`)}`;
}

/** The options that name the store, without the password that may be in the URL. */
export function storeFlags(typed: Pick<DatabaseOptions, "data" | "databasePasswordFile">, store: StorePlace): string {
  if (store.kind === "sqlite") return dataFlag(typed);
  const file = typed.databasePasswordFile;
  const password = file === undefined ? "" : ` --database-password-file ${shellWord(file)}`;
  return `--database ${shellWord(store.address.toType)}${password}`;
}

export const dataFlag = ({ data }: Pick<DatabaseOptions, "data">): string => `--data ${shellWord(data)}`;

/** What to type in `cwd` to run the script. The shell would look for a bare name on the PATH. */
export function scriptToType(script: string, cwd: string): string {
  const path = relative(cwd, script);
  return shellWord(path.includes("/") ? path : `./${path}`);
}
