import { printable } from "../../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../../lib/http-client/client.ts";
import { findElement, readXml, textOf, type XmlElement } from "../../../lib/http-client/xml.ts";

/** An action of a UPnP service, without arguments. `control` is the service's control URL. */
export type SoapAction = { readonly control: URL; readonly service: string; readonly action: string };

export type SoapAnswer =
  | { readonly kind: "answer"; readonly value: (name: string) => string | undefined }
  /** The device refused the action, with a UPnP error code. */
  | { readonly kind: "refused"; readonly code: number; readonly because: string }
  /** There was no answer, or not a valid one. */
  | { readonly kind: "failed"; readonly because: string };

/** UPnP Device Architecture 1.1, 3.2.1. */
export async function callAction(client: HttpClient, call: SoapAction, signal: AbortSignal): Promise<SoapAnswer> {
  const { control, service, action } = call;
  const headers = {
    accept: "text/xml",
    "content-type": 'text/xml; charset="utf-8"',
    soapaction: `"${service}#${action}"`,
  };
  const body =
    '<?xml version="1.0"?>\n<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"' +
    ` s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body><u:${action} xmlns:u="${service}"/></s:Body></s:Envelope>`;
  const path = `${control.pathname}${control.search}`;
  const answer = answerTo(action, await client.send({ method: "POST", path, headers, body }, signal));
  return typeof answer === "string" ? { kind: "failed", because: `${control.host} ${answer}` } : answer;
}

/** A string says what the device did wrong. */
function answerTo(action: string, outcome: HttpOutcome): SoapAnswer | string {
  if (outcome.kind === "failed") return outcome;
  const { status } = outcome;
  const root = readXml(outcome.body);
  const refused = status === 500 && root && refusalIn(root);
  if (refused) return refused;
  if (status !== 200) return `answered ${status}`;
  const answer = root && findElement(root, `${action}Response`);
  if (!answer) return `sent something that is not an answer to ${action}`;
  // With a duplicate value, the result would depend on the parser.
  const names = answer.children.map(({ name }) => name);
  if (new Set(names).size < names.length) return `sent a value twice in its answer to ${action}`;
  return { kind: "answer", value: (name) => textOf(answer, name) };
}

function refusalIn(root: XmlElement): SoapAnswer | undefined {
  const error = findElement(root, "UPnPError");
  const code = Number(error && textOf(error, "errorCode"));
  if (!error || !Number.isInteger(code)) return undefined;
  const description = printable(textOf(error, "errorDescription") ?? "");
  return { kind: "refused", code, because: `${code}${description === "" ? "" : ` ${description}`}` };
}
