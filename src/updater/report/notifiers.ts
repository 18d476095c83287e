import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { backOffDelay } from "../../core/updates/back-off.ts";
import { printable } from "../../core/visible-text.ts";
import { isLoopbackName } from "../../lib/http/listen.ts";
import type { HttpClient, HttpRequest } from "../../lib/http-client/client.ts";
import { redactorOf } from "../../lib/http-client/redact-secrets.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { MailConfig, NotifyConfig, OutletEvent, RunConfig } from "../config/outlets.ts";
import type { StateFile } from "../round/state-file.ts";
import type { Notice } from "./reporter.ts";

/** Sends one notice. Returns undefined on success, otherwise the reason for the failure. */
type Send = (notice: Notice, at: Date, signal: AbortSignal) => Promise<string | undefined>;
type Channel = {
  /** The same in another config, and after a restart. It goes into the state file, so it is only a hash. */
  readonly id: string;
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

export type NotifierTools = {
  readonly log: Logger;
  readonly host: string;
  readonly random: () => number;
  /** The changes that an earlier process could not report to everybody, and what is done with one of them. */
  readonly events: Pick<StateFile, "events" | "eventDelivered">;
};

/**
 * Tells people who do not read logs, and starts programs. Each channel has its own queue, which delivers one thing at a
 * time; updates never wait for it. A queue outlives the config: its channel is exchanged, and what waits moves over.
 * What a new config no longer has finishes what it had to deliver.
 */
export class Notifiers {
  readonly #tools: NotifierTools;
  #queues: ReadonlyMap<string, Queue> = new Map();
  readonly #retired = new Set<Queue>();
  #isFirst = true;

  constructor(tools: NotifierTools) {
    this.#tools = tools;
  }

  async adopt({ notify, run }: Pick<UpdaterConfig, "notify" | "run">): Promise<void> {
    const channels = await Promise.all([
      ...notify.map((config) => openChannel(config, this.#tools.host)),
      ...run.map((config) => openProgram(config)),
    ]);
    const before = new Map(this.#queues);
    const queues = new Map<string, Queue>();
    for (const channel of channels) {
      const id = queues.has(channel.id) ? `${channel.id} ${queues.size}` : channel.id;
      const queue = before.get(id);
      queue?.use(channel);
      queues.set(id, queue ?? new Queue(id, channel, this.#tools));
      before.delete(id);
    }
    this.#queues = queues;
    for (const queue of before.values()) void this.#retire(queue);
    if (this.#isFirst) this.#resume();
    this.#isFirst = false;
  }

  notify(notice: Notice, delivered: readonly string[] = []): void {
    const event = eventOf(notice);
    if (event === undefined) return;
    const takers = [...this.#queues].filter(([id, queue]) => queue.takes(event) && !delivered.includes(id));
    const all = new Set(takers.map(([id]) => id));
    if (all.size === 0 && notice.event !== undefined)
      void this.#tools.events.eventDelivered(notice.event).catch(ignore);
    const at = new Date();
    for (const [, queue] of takers) queue.push({ notice, at, left: all });
  }

  /** What is being delivered may end; what waits is in the state file, if it is a change. */
  async close(): Promise<void> {
    const all = [...this.#queues.values(), ...this.#retired];
    const left = (await Promise.all(all.map((queue) => queue.close()))).flat();
    const kept = left.filter(({ notice }) => notice.event !== undefined).length;
    const { log } = this.#tools;
    if (kept > 0)
      log.info({ events: String(kept) }, "changes that were not reported yet are reported after the next start");
    if (left.length > kept) log.warn({ notices: String(left.length - kept) }, "notices were not sent before the stop");
  }

  #resume(): void {
    for (const [event, { name, at, done, ...change }] of this.#tools.events.events()) {
      const message = `record replaced by ${change.new}`;
      const fields = { name, because: `moor was stopped before this change of ${at} was reported` };
      this.notify({ kind: "done", key: name, event, message, change, fields }, done);
    }
  }

  async #retire(queue: Queue): Promise<void> {
    this.#retired.add(queue);
    await queue.idle();
    await queue.close();
    this.#retired.delete(queue);
  }
}

/** `left`: the queues that have not delivered it yet; shared by all of them. */
type Item = { readonly notice: Notice; readonly at: Date; readonly left: Set<string> };

class Queue {
  readonly #id: string;
  readonly #tools: NotifierTools;
  #channel: Channel;
  #waiting: Item[] = [];
  #current: Item | undefined;
  #working: Promise<void> = Promise.resolve();
  /** `closing`: nothing starts any more. `aborting`: what was started ends. */
  readonly #closing = new AbortController();
  readonly #aborting = new AbortController();

  constructor(id: string, channel: Channel, tools: NotifierTools) {
    this.#id = id;
    this.#channel = channel;
    this.#tools = tools;
  }

  takes(event: OutletEvent): boolean {
    return this.#channel.on.includes(event);
  }

  /** From the next delivery on. */
  use(channel: Channel): void {
    const before = this.#channel;
    this.#channel = channel;
    void this.idle().then(() => before.close());
  }

  push(item: Item): void {
    if (this.#waiting.length >= longestQueue) void this.#end(this.#waiting.shift());
    this.#waiting.push(item);
    if (!this.#current) this.#working = this.#work();
  }

  idle(): Promise<void> {
    return this.#working;
  }

  /** Returns what was not delivered. */
  async close(): Promise<readonly Item[]> {
    this.#closing.abort();
    const late = setTimeout(() => this.#aborting.abort(), longestEnd);
    await this.#working;
    clearTimeout(late);
    this.#channel.close();
    return [...(this.#current ? [this.#current] : []), ...this.#waiting];
  }

  async #work(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#current = this.#waiting.shift();
      if (!this.#current) return;
      if (!(await this.#deliver(this.#current))) return;
      await this.#end(this.#current);
      this.#current = undefined;
    }
  }

  /** False if it has to be done again after a restart. */
  async #deliver({ notice, at }: Item): Promise<boolean> {
    const { log, random } = this.#tools;
    for (let tries = 1; ; tries++) {
      const { kind, tries: most, send } = this.#channel;
      const trouble = await send(notice, at, this.#aborting.signal);
      if (trouble === undefined) return true;
      if (this.#aborting.signal.aborted) return false;
      if (tries >= most) {
        log.warn({ kind, because: trouble }, failures[kind] ?? "a notice could not be sent");
        return true;
      }
      const { signal } = this.#closing;
      await pause(backOffDelay(tries, random(), backOff), undefined, { signal, ref: false }).catch(ignore);
      if (signal.aborted) return false;
    }
  }

  async #end(item: Item | undefined): Promise<void> {
    item?.left.delete(this.#id);
    const event = item?.notice.event;
    if (item === undefined || event === undefined) return;
    const by = item.left.size > 0 ? this.#id : undefined;
    // If the disk is full, it is delivered again after a restart.
    await this.#tools.events.eventDelivered(event, by).catch(ignore);
  }
}

const ignore = () => undefined;

/** Milliseconds that programs and requests have to end when moor is stopped. */
const longestEnd = 5_000;

const failures: Readonly<Record<string, string>> = { run: "a program that was started for an event failed" };

/** A program is started once for an event: nobody knows what a second start would do. */
async function openProgram(config: RunConfig): Promise<Channel> {
  const { runOn } = await import("./run-on-event.ts");
  const send: Send = (notice, _, signal) => runOn(config, eventOf(notice) ?? "", notice, signal);
  const { file, args } = config.command;
  return { id: idOf("run", file, ...args), kind: "run", on: config.on, tries: 1, send, close: () => undefined };
}

const idOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

async function openChannel(config: NotifyConfig, host: string): Promise<Channel> {
  if (config.kind === "mail") return openMail(config, host);
  const { createHttpClient } = await import("../../lib/http-client/client.ts");
  const client = await createHttpClient(config);
  const bearer: Record<string, string> = config.token ? { authorization: `Bearer ${config.token()}` } : {};
  const request = config.kind === "webhook" ? webhookRequest : ntfyRequest;
  return {
    id: idOf(config.kind, config.url.href),
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
    id: idOf("mail", server.href, ...to),
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
