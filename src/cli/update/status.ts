import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { HttpTrust } from "../../lib/http-client/endpoint.ts";
import { caFileIn } from "../../lib/tls/certificates.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import { type ControlConfig, controlUrl } from "../../updater/config/outlets.ts";
import { driftTodo, summarise } from "../../updater/report/describe-round.ts";
import { type HistoryEntry, readHistory } from "../../updater/report/history.ts";
import type { PlannedUpdate } from "../../updater/round/plan.ts";
import { openStateFile, type StateFile } from "../../updater/round/state-file.ts";
import type { Updater } from "../../updater/updater.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { loadConfigInUse } from "./load-config.ts";

export type StatusOptions = { readonly config?: string | undefined; readonly json?: boolean | undefined };

/** The wanted, the stored and the published address of a name, all read now. */
type Row = {
  readonly name: string;
  readonly wanted: string | null;
  readonly stored: string | null;
  readonly published: readonly string[] | null;
  readonly when: string | null;
  readonly why: string;
  readonly next: string;
  readonly ok: boolean;
};

/** `moor status`: for each name wanted, stored, published, when, why, next. Nothing is written. */
export async function status(options: StatusOptions, io: CommandIo): Promise<number> {
  const config = loadConfigInUse(options.config, io);
  if (!config) return 2;
  const opened = await openStateFile(config.stateFile, Date.now(), { write: false });
  if (opened.kind === "unusable") return refuse(1, `${opened.because}; ${opened.todo}`, io);
  const { openUpdater } = await import("../../updater/updater.ts");
  const updater = await openUpdater(config, { state: opened.state, now: Date.now, random: Math.random });
  try {
    const [planned, running] = await Promise.all([updater.plan(io.signal), askUpdater(config, io)]);
    const postponed = waitingEntries(await readHistory(config.historyFile), Date.now());
    const rows = await rowsOf(planned, updater, opened.state, { next: running, postponed }, io.signal);
    io.out(options.json ? `${JSON.stringify(rows, undefined, 2)}\n` : printRows(rows));
    return rows.every(({ ok }) => ok) ? 0 : 1;
  } finally {
    updater.close();
  }
}

async function rowsOf(
  planned: readonly PlannedUpdate[],
  updater: Updater,
  state: StateFile,
  { next, postponed }: { readonly next: string; readonly postponed: ReadonlyMap<string, HistoryEntry> },
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const update of planned) {
    const { record, choice, plan } = update;
    const publishedContent = await updater.published(record, signal);
    const waits = plan.kind === "replace" || plan.kind === "compare" ? postponed.get(record.displayName) : undefined;
    const { because, todo } = waits
      ? { because: `${waits.what}: ${waits.because}`, todo: "" }
      : summarise(update, false);
    const published = publishedContent.kind === "found" ? publishedContent.value.values : null;
    const wanted = choice.kind === "address" ? choice.address.text : null;
    const differs = published !== null && wanted !== null && published.join() !== wanted;
    const drifted = differs && plan.kind === "nothing" && plan.because === "same-as-stored";
    const why = drifted
      ? `the record was changed elsewhere; ${driftTodo(record, wanted)}`
      : `${because}${todo ? `; ${todo}` : ""}`;
    rows.push({
      name: record.displayName,
      wanted,
      stored: state.get(record.key)?.address ?? null,
      published,
      when: state.get(record.key)?.storedAt ?? null,
      // A missing record does not matter while nothing would be written.
      why:
        record.paused || publishedContent.kind === "found" || (publishedContent.kind === "missing" && wanted === null)
          ? why
          : `${publishedContent.because}; ${publishedContent.todo}`,
      next: record.paused
        ? "paused"
        : plan.kind === "wait"
          ? new Date(plan.until).toISOString()
          : (waits?.until ?? next),
      ok: record.paused === true || (published !== null && !differs),
    });
  }
  return rows;
}

/**
 * Only the running updater knows how often a record was replaced in the last hour. It writes to the history when it has
 * to wait.
 */
function waitingEntries(history: readonly HistoryEntry[], now: number): ReadonlyMap<string, HistoryEntry> {
  const last = new Map(history.map((entry) => [entry.about, entry]));
  return new Map([...last].filter(([, { kind, until }]) => kind === "waiting" && Date.parse(until ?? "") > now));
}

const noUpdater = "no updater is running";

/** When the running updater checks next, if it can be asked. */
async function askUpdater(config: UpdaterConfig, io: CommandIo): Promise<string> {
  const { control } = config;
  if (!control) return "";
  const { createHttpClient } = await import("../../lib/http-client/client.ts");
  const url = new URL(controlUrl(control));
  // Without its certificate, it has never been started.
  const trust = await trustOf(control, dirname(config.stateFile)).catch(() => undefined);
  if (trust === undefined) return noUpdater;
  const client = await createHttpClient({ url, trust }, { timeoutMs: 2_000, maxBytes: 4_000_000 });
  try {
    const headers = { authorization: `Bearer ${control.token()}` };
    const outcome = await client.send({ method: "GET", path: "/status", headers }, io.signal);
    if (outcome.kind !== "answer" || outcome.status !== 200) return noUpdater;
    const answer = JSON.parse(outcome.body) as Partial<Record<"config" | "stateFile" | "nextRound", string | null>>;
    if (answer.stateFile === config.stateFile) return answer.nextRound ?? "soon";
    const whose = answer.config ? `the updater of ${answer.config}` : "another program";
    io.err(`${url.host} is used by ${whose}; set another port in \`control:\` in ${config.file}\n`);
    return noUpdater;
  } catch {
    return noUpdater;
  } finally {
    client.close();
  }
}

/** The certificate that the updater itself reads. */
async function trustOf({ password, certificate }: ControlConfig, folder: string): Promise<HttpTrust> {
  if (password === undefined) return { kind: "system" };
  const pem = await readFile(certificate?.cert ?? caFileIn(folder), "utf8");
  return certificate ? { kind: "fingerprint", sha256: new X509Certificate(pem).fingerprint256 } : { kind: "ca", pem };
}

function printRows(rows: readonly Row[]): string {
  const cells = rows.map(({ name, wanted, stored, published, when, why, next }) => [
    name,
    wanted ?? "none",
    stored ?? "none",
    published?.join(" ") ?? "unknown",
    when?.slice(0, 19).replace("T", " ") ?? "never",
    next === "" ? "" : next.replace(/^(\d{4}-.*)T(\d\d:\d\d:\d\d).*$/, "$1 $2"),
    why,
  ]);
  return printTable(["NAME", "WANTED", "STORED", "PUBLISHED", "WRITTEN (UTC)", "NEXT (UTC)", "WHY"], cells);
}
