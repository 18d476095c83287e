import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiKey } from "../access/keys.ts";
import type { Answer } from "./answers.ts";

/** One authorised call of an endpoint. */
export type Call = {
  readonly key: ApiKey;
  readonly from: string;
  /** What stood behind the action in the path. */
  readonly parameters: readonly string[];
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** Answers, or has taken the response over. */
export type Endpoint = (call: Call) => Promise<Answer | "taken">;
