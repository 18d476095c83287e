import type { IncomingMessage } from "node:http";
import { errorCodes } from "fastify";

const { FST_ERR_CTP_BODY_TOO_LARGE, FST_ERR_CTP_INVALID_CONTENT_LENGTH } = errorCodes;

/** For a body without a length. */
const firstRoom = 64 * 1024;

/**
 * What Fastify does with `parseAs: "buffer"`, except that each part is copied when it arrives: to join the parts of
 * 16 MiB at the end stops the event loop for 20 ms.
 */
export function readLargeBody(payload: IncomingMessage, limit: number): Promise<Buffer> {
  const announced = Number(payload.headers["content-length"]);
  if (announced > limit) return Promise.reject(new FST_ERR_CTP_BODY_TOO_LARGE());
  let body: Buffer = Buffer.allocUnsafeSlow(Number.isNaN(announced) ? firstRoom : announced);
  let length = 0;
  return new Promise((resolve, reject) => {
    const end = (fail?: Error) => {
      payload.off("data", take).off("end", end).off("error", end);
      if (fail) reject(Object.assign(fail, { statusCode: (fail as { statusCode?: number }).statusCode ?? 400 }));
      else if (!Number.isNaN(announced) && length !== announced) reject(new FST_ERR_CTP_INVALID_CONTENT_LENGTH());
      else resolve(body.subarray(0, length));
    };
    const take = (part: Buffer) => {
      if (length + part.length > limit) return end(new FST_ERR_CTP_BODY_TOO_LARGE());
      body = withRoom(body, length, length + part.length);
      length += part.copy(body, length);
    };
    payload.on("data", take).on("end", end).on("error", end).resume();
  });
}

function withRoom(body: Buffer, length: number, needed: number): Buffer {
  if (needed <= body.length) return body;
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * body.length));
  body.copy(larger, 0, 0, length);
  return larger;
}
