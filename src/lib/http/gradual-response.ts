import { type IncomingMessage, ServerResponse } from "node:http";

/** In bytes. Given to the connection at a time: what a socket keeps before it asks to wait. */
export const pieceOfAnswer = 64 * 1024;

/**
 * Sends a long body in pieces, each when the client has taken the one before it. Node would encrypt the whole body in
 * one step and keep that copy until the client has read it: a thousand clients that request a large file and read
 * nothing would take gigabytes, for 60 bytes each.
 */
export class GradualResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override end(...[body, ...rest]: readonly unknown[]): this {
    const isLong = (typeof body === "string" || Buffer.isBuffer(body)) && body.length > pieceOfAnswer;
    if (!isLong || this.destroyed || this.req.method === "HEAD")
      return super.end(...([body, ...rest] as Parameters<ServerResponse["end"]>));
    const bytes = typeof body === "string" ? Buffer.from(body, rest.find(isEncoding)) : body;
    const done = rest.find((each) => typeof each === "function") as (() => void) | undefined;
    if (!this.headersSent) this.setHeader("content-length", bytes.length);
    this.#sendFrom(0, bytes, done);
    return this;
  }

  #sendFrom(start: number, bytes: Buffer, done: (() => void) | undefined): void {
    let next = start;
    while (!this.destroyed && next + pieceOfAnswer < bytes.length) {
      const piece = bytes.subarray(next, next + pieceOfAnswer);
      next += pieceOfAnswer;
      if (!this.write(piece)) return void this.once("drain", () => this.#sendFrom(next, bytes, done));
    }
    super.end(bytes.subarray(next), done);
  }
}

const isEncoding = (value: unknown): value is BufferEncoding => typeof value === "string";
