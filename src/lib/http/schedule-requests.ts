import { IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionPermit } from "../limits/connection-limit.ts";
import { GradualResponse } from "./gradual-response.ts";
import { permitOf } from "./listen.ts";
import { sendUnreadable } from "./unreadable-request.ts";

type PendingRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Why the request is refused. */
  readonly fault: string | undefined;
};

/** What a connection has sent and not been answered yet, oldest first. Only the first may be under way. */
type Connection = {
  readonly socket: Socket;
  readonly unanswered: PendingRequest[];
  /** Its place among the connections of the server. */
  readonly permit: ConnectionPermit | undefined;
  /** The pass of the event loop in which its last request was started. */
  startedIn: number;
};

function newConnection(socket: Socket): Connection {
  const permit = permitOf(socket);
  const unanswered: PendingRequest[] = [];
  // A request that has not arrived completely may never do.
  if (permit) permit.isBusy = () => unanswered[0]?.request.complete === true;
  return { socket, unanswered, permit, startedIn: -1 };
}

/** A client that sends more requests without waiting for their answers is disconnected. */
export const mostUnanswered = 32;

/** Bytes and milliseconds. */
const [mostRest, timeForRest] = [65_536, 500];

/** How many parts of a body may hold less than `smallPart` bytes on average before its client is disconnected. */
export const mostSmallParts = 2_000;
const smallPart = 16;

/** In bytes. Smaller parts of a body are joined first. */
const worthPushing = 1_024;

/** Enough for a page and for scripts; the process has other work. */
export const fewPerPass = 8;

/**
 * Decides when the requests of a server are started. Node starts each one as soon as it is parsed, and parses
 * everything that has arrived: one connection with thousands of pipelined requests would stop everything else in the
 * process. Here, the requests of a connection are started in order, each after the answer to the one before it, and
 * never two in one pass of the event loop. All connections together start at most `perPass`. Nothing is started for a
 * connection that is gone. Ambiguous requests are refused. Call this when the server has its listeners; create it with
 * `scheduledServer`.
 */
export function scheduleRequests(server: Server, perPass = fewPerPass): void {
  const handlers = server.listeners("request") as RequestListener[];
  const schedule = new RequestSchedule(perPass, (request, response) => {
    for (const handle of handlers) handle.call(server, request, response);
  });
  server.removeAllListeners("request").on("request", (request, response) => {
    schedule.take(request, response, framingFault(request));
  });
  // Without a listener, Node answers these itself, as many as have arrived.
  server.on("checkExpectation", (request, response) => {
    schedule.take(request, response, "417 Expectation Failed: the only supported expectation is 100-continue");
  });
  server.removeAllListeners("clientError").on("clientError", (error, socket) => {
    schedule.refuse(error, socket as Socket);
  });
}

class RequestSchedule {
  readonly #connections = new WeakMap<Socket, Connection>();
  /** Connections whose next request may be started. */
  readonly #ready: Connection[] = [];
  readonly #perPass: number;
  readonly #handle: RequestListener;
  #pass = 0;
  /** Requests in this pass. */
  #started = 0;
  #isPlanned = false;

  constructor(perPass: number, handle: RequestListener) {
    this.#perPass = perPass;
    this.#handle = handle;
  }

  take(request: IncomingMessage, response: ServerResponse, fault: string | undefined): void {
    const { socket } = request;
    const connection = this.#connections.get(socket) ?? newConnection(socket);
    const { unanswered } = connection;
    // What follows an ambiguous request may be a part of it.
    if (socket.destroyed || unanswered.at(-1)?.fault !== undefined) return;
    this.#connections.set(socket, connection);
    if (request instanceof BufferedRequest) request.bufferSmallBody(() => disconnect(connection));
    // What follows in the same packet is lost, because Node's parser stops here.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    unanswered.push({ request, response, fault });
    if (fault !== undefined) stopParsing(socket);
    if (unanswered.length > mostUnanswered) disconnect(connection);
    else if (unanswered.length === 1) this.#startSoon(connection);
  }

  /** Bytes that are no request. The answer must not be mistaken for the answer to an earlier request. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const { unanswered = [] } = this.#connections.get(socket) ?? {};
    const last = unanswered.at(-1);
    if (last?.fault !== undefined) return;
    const before = last?.request.complete ? last : unanswered.at(-2);
    if (before === undefined) sendUnreadable(error, socket);
    else before.response.once("close", () => socket.destroy());
  }

  #startSoon(connection: Connection): void {
    const [first] = connection.unanswered;
    if (first?.request instanceof BufferedRequest && first.request.waitsForBody(() => this.#startSoon(connection)))
      return;
    const isFree = this.#started < this.#perPass && this.#ready.length === 0 && connection.startedIn !== this.#pass;
    if (isFree) this.#start(connection);
    else {
      this.#ready.push(connection);
      this.#planPass();
    }
  }

  #start(connection: Connection): void {
    const { socket, unanswered, permit } = connection;
    const [next] = unanswered;
    // After the last answer of a connection, the socket is ended and no longer writable.
    if (next === undefined || socket.destroyed || !socket.writable) return;
    const { request, response, fault } = next;
    connection.startedIn = this.#pass;
    this.#started += 1;
    this.#planPass();
    response.on("close", () => {
      permit?.used();
      // Most clients wait for the answer; `shift` takes longer.
      if (unanswered.length === 1) unanswered.pop();
      else unanswered.shift();
      if (!request.complete) readLittleMore(request);
      if (unanswered.length > 0) this.#startSoon(connection);
    });
    if (fault === undefined) this.#handle(request, response);
    else sendFault(response, fault);
  }

  #planPass(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#pass += 1;
      this.#started = 0;
      for (const connection of this.#ready.splice(0, this.#perPass)) this.#start(connection);
      if (this.#ready.length > 0) this.#planPass();
    });
  }
}

/**
 * For a request that was refused before its body had arrived. Node would read the body to its end, however long it is;
 * here the connection is closed if the rest is long or late. The client gets a moment to read the answer: closing with
 * unread data resets the connection.
 */
function readLittleMore(request: IncomingMessage): void {
  const { socket } = request;
  const [before, end] = [socket.bytesRead, performance.now() + timeForRest];
  const checkRest = () => {
    if (socket.destroyed || request.complete) return;
    if (socket.bytesRead - before > mostRest) socket.pause();
    if (performance.now() >= end) socket.destroy();
    else setTimeout(checkRest, timeForRest / 50).unref();
  };
  checkRest();
}

/**
 * No further request of the connection is read. Node would parse the rest of what has arrived, so the parser is told to
 * skip it, as after an upgrade. Node does not document `parser`; without it, this costs more but does the same.
 */
function stopParsing(socket: Parsed): void {
  if (socket.parser) socket.parser.onIncoming = () => 2;
}

/** `pause` works only from the next packet on: Node would still call `push` for each chunk of this one. */
function skipBodies(socket: Parsed): void {
  const { parser } = socket;
  const key = Object.keys(parser ?? {}).find((each) => parser?.[each] instanceof Function && isForBodies(parser[each]));
  if (!parser || key === undefined) return;
  const forBodies = parser[key];
  parser[key] = undefined;
  parser.pause?.();
  // The parser is used again for another connection.
  socket.once("close", () => {
    parser[key] = forBodies;
  });
}

const isForBodies = ({ name }: { readonly name: string }): boolean => name === "parserOnBody";

/** Internals of Node. */
type Parsed = Socket & {
  readonly parser?: ({ onIncoming: () => number; readonly pause?: () => void } & Record<string, unknown>) | null;
};

/**
 * Node would make an error with a stack trace for each unanswered request: many times the work of the requests
 * themselves. So waiting requests are destroyed first.
 */
function disconnect({ socket, unanswered }: { readonly socket: Parsed; readonly unanswered: PendingRequest[] }): void {
  stopParsing(socket);
  skipBodies(socket);
  socket.destroy();
  for (const { request } of unanswered.slice(1)) request.destroy();
}

/** The fault begins with its status. */
function sendFault(response: ServerResponse, fault: string): void {
  const text = `${fault}\n`;
  const type = { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(text) };
  response.writeHead(Number.parseInt(fault, 10), { ...type, connection: "close" }).end(text);
}

/** In bytes. Larger bodies, and those of unknown length, are streamed. */
export const smallBody = 16 * 1024;

/**
 * A request whose small body is kept here, not streamed: `scheduleRequests` starts the request when the body has
 * arrived, and `takeBody` returns it. Streams are made for bodies of any length; for a short one, which mostly arrives
 * in one piece, they are a tenth of the work of the whole request. A body that is not taken can be read as a stream.
 */
export class BufferedRequest extends IncomingMessage {
  /** Node's: parts that arrive are ignored. */
  declare _dumped: boolean;
  /** What has arrived; undefined if the body is streamed. */
  #buffered: Buffer[] | undefined;
  #isTaken = false;
  /** Small parts that wait for the end of this pass of the event loop, and whether the stream takes more. */
  readonly #gathered: Buffer[] = [];
  #hasRoom = true;
  #isUnwanted = false;
  #whenArrived: (() => void) | undefined;
  #refuse = (): void => {};
  #parts = 0;
  #bytes = 0;

  /** Call it when the headers are known, and before the body arrives. `refuse` is called for a body of tiny parts. */
  bufferSmallBody(refuse: () => void): void {
    const size = bodySize(this);
    if (size > 0 && size <= smallBody) this.#buffered = [];
    this.#refuse = () => {
      this.#refuse = () => {};
      this.#isUnwanted = true;
      refuse();
    };
  }

  /** Whether the request has to wait for its body; `arrived` is called then. */
  waitsForBody(arrived: () => void): boolean {
    if (this.#buffered === undefined || this.complete) return false;
    this.#whenArrived = arrived;
    return true;
  }

  /** Undefined if there is none, or if it is streamed. */
  takeBody(): Buffer | undefined {
    if (this.#buffered === undefined) return undefined;
    this.#isTaken = true;
    return this.#buffered.length === 1 ? this.#buffered[0] : Buffer.concat(this.#buffered);
  }

  /**
   * Node's parser calls it with each part of the body, and with null at the end. 64 KiB may hold 10,000 chunks of one
   * byte, each of which would pass through the stream, which takes many times as long as parsing it.
   */
  override push(part: Buffer | null): boolean {
    if (part === null) return this.#end();
    this.#parts += 1;
    this.#bytes += part.length;
    if (this.#parts > mostSmallParts && this.#bytes < this.#parts * smallPart) this.#refuse();
    if (this.#isUnwanted) return true;
    if (this.#buffered !== undefined) this.#buffered.push(part);
    else if (part.length > worthPushing && this.#gathered.length === 0) return super.push(part);
    else if (this.#gathered.push(part) === 1) setImmediate(() => this.#pushGathered());
    return this.#hasRoom;
  }

  #end(): boolean {
    if (this.#buffered === undefined) {
      this.#pushGathered();
      return super.push(null);
    }
    this.#whenArrived?.();
    return true;
  }

  #pushGathered(): void {
    const parts = this.#gathered.splice(0);
    if (parts.length > 0 && !this.#isUnwanted && !this.destroyed) this.#hasRoom = super.push(Buffer.concat(parts));
  }

  /** Node calls it after the answer, and would no longer call `push`: parts that still arrive would not be counted. */
  _dump(): void {
    discard.call(this);
    this.#isUnwanted = true;
    this._dumped = false;
  }

  /** Somebody reads the stream: at the latest Node, after the answer, to discard the body. */
  override _read(size: number): void {
    if (this.#buffered !== undefined && !this.#isTaken) {
      const kept = this.#buffered;
      this.#buffered = undefined;
      if (kept.length > 0) super.push(Buffer.concat(kept));
      if (this.complete) super.push(null);
    }
    super._read(size);
  }
}

const { _dump: discard } = IncomingMessage.prototype as unknown as { readonly _dump: (this: IncomingMessage) => void };

/** Options of every server whose requests are scheduled. `framingFault` finds requests without a host. */
export const scheduledServer = {
  IncomingMessage: BufferedRequest,
  ServerResponse: GradualResponse,
  requireHostHeader: false,
  // In milliseconds; checked once a second, so the headers of a request have ten.
  headersTimeout: 9_000,
  connectionsCheckingInterval: 1_000,
  // Longer than the machine may stall: otherwise a client that reuses its connection right after a stall finds it
  // closed.
  keepAliveTimeout: 65_000,
  requestTimeout: 30_000,
} as const;

/** Of the body in bytes; infinite if the client does not declare it. */
export function bodySize({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

/**
 * Why the host or the end of a request is ambiguous (RFC 9112 sections 3.2 and 6.1). Node's parser refuses most
 * requests that a proxy in front may split differently (two lengths, a length and chunks, bare line feeds); these are
 * the rest.
 */
function framingFault({ rawHeaders, headers, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === "host") hosts += 1;
  if (hosts === 0 && httpVersion === "1.1") return "400 Bad Request: no Host header";
  if (hosts > 1) return "400 Bad Request: more than one Host header";
  if (headers.host !== undefined && !/^[^\s,/\\@?#]*$/.test(headers.host)) {
    return "400 Bad Request: the Host header is not a host name";
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  if (httpVersion !== "1.1") return "400 Bad Request: Transfer-Encoding needs HTTP/1.1";
  return coding.toLowerCase() === "chunked"
    ? undefined
    : "400 Bad Request: the only supported Transfer-Encoding is chunked";
}
