import type { Failed, UpnpDevice } from "./upnp.ts";

/** A gateway's answer over UPnP. `text` is unchanged: empty or zeros while the gateway is offline. */
export type ExternalAddress =
  | { readonly kind: "address"; readonly text: string }
  /** It has several addresses, and another protocol would report one of them. */
  | { readonly kind: "ambiguous"; readonly because: string }
  | Failed
  | { readonly kind: "not-found" };

export async function readExternalAddress(device: UpnpDevice, signal: AbortSignal): Promise<ExternalAddress> {
  const search = await device.find(signal);
  if (search.kind !== "found") return search;
  const answers: ExternalAddress[] = [];
  for (const connection of search.connections) {
    const answer = await device.call(connection, "GetExternalIPAddress", signal);
    if (answer.kind === "answer") answers.push(addressIn(answer.value("NewExternalIPAddress")));
    else if (answer.kind === "failed") answers.push(answer);
    else answers.push(failed(`the router refused to report its address: ${answer.because}`));
  }
  return combined(answers);
}

const failed = (because: string): Failed => ({ kind: "failed", because });

const addressIn = (text: string | undefined): ExternalAddress =>
  text === undefined ? failed("the router sent an answer without an address") : { kind: "address", text };

/** An offline gateway sends one of these. */
export const isOffline = (text: string) => text === "" || text === "0.0.0.0";

/** Many routers list a connection that is not in use, and send nothing or zeros for it. */
function combined(answers: readonly ExternalAddress[]): ExternalAddress {
  const texts = answers.flatMap((each) => (each.kind === "address" ? [each.text] : []));
  const [text, other] = new Set(texts.filter((each) => !isOffline(each)));
  if (other !== undefined) {
    return { kind: "ambiguous", because: "the router has two connections with different addresses" };
  }
  if (text !== undefined) return { kind: "address", text };
  return answers.find(({ kind }) => kind === "failed") ?? { kind: "address", text: "" };
}
