import { promisify } from "node:util";
import { gzip } from "node:zlib";

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

/** Shorter bodies are not worth it, in bytes. */
const worthIt = 1_400;

/** Compresses the body if the client accepts that, on another thread. */
export async function zipAnswer(answer: Answer, acceptEncoding: string | undefined): Promise<Answer> {
  if (answer.body.length < worthIt || !acceptEncoding?.includes("gzip")) return answer;
  const headers = { ...answer.headers, "content-encoding": "gzip", vary: "Accept-Encoding" };
  return { ...answer, headers, body: await zip(answer.body) };
}

const zip = promisify(gzip);
