import type { ListenAddress } from "../../lib/http/listen.ts";

/** Why the nameserver cannot listen, and what to do. */
export function listenFailure(error: NodeJS.ErrnoException, at: ListenAddress, protocol: "UDP" | "TCP"): Error {
  return new Error(words(error, at, protocol), { cause: error });
}

function words(error: NodeJS.ErrnoException, { host, port }: ListenAddress, protocol: "UDP" | "TCP"): string {
  const where = `${protocol} port ${port} on ${host}`;
  switch (error.code) {
    case "EADDRINUSE":
      return (
        `${where} is in use by another program; "ss -lnp sport = :${port}" shows which. ` +
        "Stop that program, or choose another address or port with --dns HOST:PORT"
      );
    case "EACCES":
    case "EPERM":
      return (
        `${where} needs a permission that moor does not have. Give its systemd unit the line ` +
        "AmbientCapabilities=CAP_NET_BIND_SERVICE, or choose a port above 1023 with --dns HOST:PORT"
      );
    case "EADDRNOTAVAIL":
      return `this machine does not have the address ${host}; choose one that it has with --dns HOST:PORT`;
    case "EAI_AGAIN":
      return `${host} is not an address, and DNS does not answer for it as a name; write one such as 127.0.0.1:${port} or [::1]:${port}`;
    case "ENOTFOUND":
      return `${host} is not an address of this machine; write one such as 127.0.0.1:${port} or [::1]:${port}`;
    default:
      return `cannot listen on ${where}: ${error.message}`;
  }
}
