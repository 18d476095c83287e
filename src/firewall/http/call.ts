import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiKey } from "../access/keys.ts";
import type { FirewallAnswer } from "./answers.ts";

/** One authorised call of an endpoint. */
export type Call = {
  readonly key: ApiKey;
  readonly from: string;
  /** The path segments after the action. */
  readonly parameters: readonly string[];
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** Returns a response, or `taken` if the endpoint writes it itself. */
export type EndpointHandler = (call: Call) => Promise<FirewallAnswer | "taken">;
