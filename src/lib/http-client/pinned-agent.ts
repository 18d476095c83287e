import { Agent, type AgentOptions } from "node:https";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";

type Done = (error: Error | null, socket: Duplex) => void;

/**
 * Trusts one certificate by its SHA-256 fingerprint. Node checks names only after the chain, and a self-signed chain
 * fails, so both checks are off. Instead, the fingerprint is compared before a request gets the connection: no secret
 * is sent to anyone else. Sessions are not cached, so that every connection presents its certificate.
 */
export function createPinnedAgent(options: AgentOptions, sha256: string): Agent {
  const agent = new Agent({ ...options, maxCachedSessions: 0 });
  Object.assign(agent, {
    createConnection(connection: ConnectionOptions, done: Done): void {
      const socket = connect({ ...connection, rejectUnauthorized: false });
      const refuse = (error: Error) => done(error, socket);
      socket.once("error", refuse);
      socket.once("secureConnect", () => {
        socket.off("error", refuse);
        const seen = socket.getPeerCertificate().fingerprint256;
        if (seen === sha256) return done(null, socket);
        const mismatch = Object.assign(new Error("the certificate is not the pinned one"), {
          code: "MOOR_FINGERPRINT",
          seen,
        });
        socket.destroy();
        return done(mismatch, socket);
      });
    },
  });
  return agent;
}
