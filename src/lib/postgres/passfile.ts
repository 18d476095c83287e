import { homedir } from "node:os";
import { join } from "node:path";
import { readFileIfThere } from "../../process/data-folder.ts";

export type PassfileKey = {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
};

/** https://www.postgresql.org/docs/current/libpq-pgpass.html: the first line that fits. */
export function passwordIn(text: string, { host, port, database, user }: PassfileKey): string | undefined {
  const wanted = [host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = line.match(/(?:\\.|[^:\\])*(?::|$)/g)?.map((field) => field.replace(/:$/, "")) ?? [];
    const [password] = fields.slice(4);
    const fits = wanted.every((value, i) => fields[i] === "*" || unescaped(fields[i] ?? "") === value);
    if (fits && password) return unescaped(password);
  }
  return undefined;
}

const unescaped = (field: string): string => field.replace(/\\(.)/g, "$1");

export async function passwordFromPassfile(
  env: Readonly<Record<string, string | undefined>>,
  key: PassfileKey,
): Promise<string | undefined> {
  const path = env.PGPASSFILE ?? join(env.HOME ?? homedir(), ".pgpass");
  const text = await readFileIfThere(path);
  return text === undefined ? undefined : passwordIn(text, key);
}
