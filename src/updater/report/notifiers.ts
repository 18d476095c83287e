import { setTimeout as pause } from "node:timers/promises";
import { backOffDelay } from "../../core/updates/back-off.ts";
import { printable } from "../../core/visible-text.ts";
import { isLoopbackName } from "../../lib/http/listen.ts";
import type { HttpClient, HttpRequest } from "../../lib/http-client/client.ts";
import { redactorOf } from "../../lib/http-client/redact-secrets.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { MailConfig, NotifyConfig, OutletEvent, RunConfig } from "../config/outlets.ts";
import type { Notice, Notify } from "./reporter.ts";

export type Notifiers = { readonly notify: Notify; close(): void };

/** Sends one notice. Returns undefined on success, otherwise the reason for the failure. */
type Send = (notice: Notice, at: Date, signal: AbortSignal) => Promise<string | undefined>;
type Channel = {
  readonly kind: NotifyConfig["kind"] | "run";
  readonly on: readonly OutletEvent[];
  /** How often a notice is tried. */
  readonly tries: number;
  readonly send: Send;
  close(): void;
};

const longestQueue = 100;
const mostTries = 6;
const usualEvents: readonly OutletEvent[] = ["failing", "over"];
const backOff = { base: 1_000, cap: 300_000 };

/** What the config calls the event. */
const eventOf = ({ kind }: Notice): OutletEvent | undefined =>
  kind === "done" ? "changed" : kind === "waiting" ? undefined : kind;

/**
 * Tells people who do not read logs, and starts programs. Each channel has its own queue, which starts one thing at a
 * time; updates never wait for it.
 */
export async function openNotifiers(
  { notify, run }: Pick<UpdaterConfig, "notify" | "run">,
  host: string,
  log: Logger,
  random: () => number,
): Promise<Notifiers> {
  const stop = new AbortController();
  const channels = await Promise.all([
    ...notify.map((config) => openChannel(config, host)),
    ...run.map((config) => openProgram(config)),
  ]);
  const queues = channels.map((channel) => ({ ...channel, push: createQueue(channel, log, random, stop.signal) }));
  return {
    notify(notice) {
      const event = eventOf(notice);
      for (const { on, push } of queues) if (event !== undefined && on.includes(event)) push(notice);
    },
    close() {
      stop.abort();
      for (const channel of channels) channel.close();
    },
  };
}

function createQueue(
  { kind, tries: most, send }: Channel,
  log: Logger,
  random: () => number,
  signal: AbortSignal,
): Notify {
  const waiting: { readonly notice: Notice; readonly at: Date }[] = [];
  let busy = false;
  const deliver = async (notice: Notice, at: Date) => {
    for (let tries = 1; !signal.aborted; tries++) {
      const trouble = await send(notice, at, signal);
      if (trouble === undefined || signal.aborted) return;
      if (tries === most) return log.warn({ kind, because: trouble }, failures[kind] ?? "a notice could not be sent");
      await pause(backOffDelay(tries, random(), backOff), undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const work = async () => {
    busy = true;
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift())
      await deliver(next.notice, next.at);
    busy = false;
  };
  return (notice) => {
    if (waiting.length >= longestQueue) waiting.shift();
    waiting.push({ notice, at: new Date() });
    if (!busy) void work();
  };
}

const failures: Readonly<Record<string, string>> = { run: "a program that was started for an event failed" };

/** A program is started once for an event: nobody knows what a second start would do. */
async function openProgram(config: RunConfig): Promise<Channel> {
  const { runOn } = await import("./run-on-event.ts");
  const send: Send = (notice, _, signal) => runOn(config, eventOf(notice) ?? "", notice, signal);
  return { kind: "run", on: config.on, tries: 1, send, close: () => undefined };
}

async function openChannel(config: NotifyConfig, host: string): Promise<Channel> {
  if (config.kind === "mail") return openMail(config, host);
  const { createHttpClient } = await import("../../lib/http-client/client.ts");
  const client = await createHttpClient(config);
  const bearer: Record<string, string> = config.token ? { authorization: `Bearer ${config.token()}` } : {};
  const request = config.kind === "webhook" ? webhookRequest : ntfyRequest;
  return {
    kind: config.kind,
    on: config.on ?? usualEvents,
    tries: mostTries,
    send: (notice, at, signal) => post(client, request({ notice, at, host }, config.url.search, bearer), signal),
    close: () => client.close(),
  };
}

async function post(client: HttpClient, request: HttpRequest, signal: AbortSignal): Promise<string | undefined> {
  const outcome = await client.send(request, signal);
  if (outcome.kind === "failed") return outcome.because;
  return outcome.status >= 200 && outcome.status < 300 ? undefined : `it answered ${outcome.status}`;
}

type Outgoing = { readonly notice: Notice; readonly at: Date; readonly host: string };
type Headers = Readonly<Record<string, string>>;

function webhookRequest({ notice, at, host }: Outgoing, path: string, bearer: Headers): HttpRequest {
  const { message, fields, change = {} } = notice;
  const body = JSON.stringify({ event: eventOf(notice), message, ...fields, ...change, host, at: at.toISOString() });
  return { method: "POST", path, headers: { "content-type": "application/json", ...bearer }, body };
}

/** https://docs.ntfy.sh/publish/: the text is the body, the rest is in headers. */
function ntfyRequest({ notice, host }: Outgoing, path: string, bearer: Headers): HttpRequest {
  const isBad = notice.kind === "failing";
  const headers = {
    title: `${aboutOf(notice)}: ${notice.message}`.replaceAll(/[^\x20-\x7e]/g, "?"),
    priority: isBad ? "high" : "default",
    tags: isBad ? "warning" : "white_check_mark",
    "content-type": "text/plain; charset=utf-8",
    ...bearer,
  };
  return { method: "POST", path, headers, body: textOf(notice, host) };
}

async function openMail(
  { server, user, password, from, to, on = usualEvents }: MailConfig,
  host: string,
): Promise<Channel> {
  const { createTransport } = await import("nodemailer");
  const secure = server.protocol === "smtps:";
  const transport = createTransport({
    host: server.hostname,
    port: Number(server.port) || (secure ? 465 : 587),
    secure,
    auth: user === undefined ? undefined : { user, pass: password?.() ?? "" },
    // Otherwise the password would go unencrypted to a server, or an attacker, that does not offer STARTTLS.
    requireTLS: user !== undefined && !isLoopbackName(server.hostname),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  });
  const redact = redactorOf(password ? [password()] : []);
  return {
    kind: "mail",
    on,
    tries: mostTries,
    async send(notice) {
      const subject = `moor: ${aboutOf(notice)}: ${notice.message}`;
      try {
        await transport.sendMail({ from, to: [...to], subject, text: `${textOf(notice, host)}\n` });
        return undefined;
      } catch (error) {
        return printable(redact(error instanceof Error ? error.message : String(error)));
      }
    },
    close: () => transport.close(),
  };
}

const aboutOf = ({ fields: { name, source } }: Notice) => name ?? source ?? "moor update";

const textOf = ({ message, fields: { names, because, todo } }: Notice, host: string) =>
  [message, names, because, todo, `(moor update on ${host})`].filter((line) => line !== undefined).join("\n");
