import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fail, type Result } from "../../core/result.ts";
import type { Webhook } from "../../records/webhooks/settings.ts";
import type { CommandIo } from "../io/command-io.ts";

/** The webhooks that the file lists; none without a file. */
export async function readWebhooksFile(file: string | undefined, io: CommandIo): Promise<Result<readonly Webhook[]>> {
  if (file === undefined) return { ok: true, value: [] };
  const path = resolve(io.cwd, file);
  const { readWebhooks } = await import("../../records/webhooks/settings.ts");
  try {
    return readWebhooks(await readFile(path, "utf8"), file, (relative) => resolve(dirname(path), relative));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return fail({
      code: "unreadable",
      where: file,
      message: `it cannot be read (${code})`,
      todo: "correct --webhooks",
    });
  }
}
