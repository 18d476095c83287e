const utf8 = new TextDecoder("utf-8", { fatal: true });

export type BodyRead = (error: Error | null, body?: unknown) => void;

/** A body is JSON in UTF-8, or the request is a bad one. */
export function parseBody(body: Buffer, done: BodyRead): void {
  try {
    done(null, JSON.parse(utf8.decode(body)));
  } catch (error) {
    done(Object.assign(new Error("the body is not JSON", { cause: error }), { statusCode: 400 }));
  }
}
