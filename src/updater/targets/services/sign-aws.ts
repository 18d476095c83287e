import { createHash, createHmac } from "node:crypto";

export type AwsRequest = {
  readonly method: string;
  readonly host: string;
  /** Encoded as it is sent. */
  readonly path: string;
  /** Names and values encoded, sorted by name; without the question mark. */
  readonly query: string;
  readonly body: string;
};

export type AwsKey = {
  readonly id: string;
  readonly secret: string;
  readonly region: string;
  readonly service: string;
};

/** AWS Signature Version 4: the headers `x-amz-date` and `authorization`. */
export function signAws(
  request: AwsRequest,
  key: AwsKey,
  now: number,
): { "x-amz-date": string; authorization: string } {
  const time = new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
  const scope = [time.slice(0, 8), key.region, key.service, "aws4_request"];
  const { method, host, path, query, body } = request;
  const signed = "host;x-amz-date";
  const canonical = [method, path, query, `host:${host}`, `x-amz-date:${time}`, "", signed, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(canonical)].join("\n");
  const signingKey = scope.reduce<Buffer>((secret, part) => hmac(secret, part), Buffer.from(`AWS4${key.secret}`));
  const signature = hmac(signingKey, text).toString("hex");
  const credential = [key.id, ...scope].join("/");
  return {
    "x-amz-date": time,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
