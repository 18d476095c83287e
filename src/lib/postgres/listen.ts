import type { Client } from "pg";
import type { Logger } from "../../process/log.ts";
import { keepSession, type SessionTiming } from "./session.ts";

export type ListenOptions = {
  /** Returns a connected client; called again whenever the connection is lost. */
  readonly connect: () => Promise<Client>;
  readonly channels: readonly string[];
  readonly onNotice: (channel: string, payload: string) => void;
  /**
   * Listening has begun, for the first time or again. Earlier notifications are lost, so everything must be checked. From here
   * on, none is missed until the next call.
   */
  readonly onGap: () => void;
  readonly log: Logger;
  readonly timing?: Partial<SessionTiming>;
  readonly random?: () => number;
};

export type Listening = {
  /** False while notifications may be missed: caches that depend on them must not be trusted then. */
  readonly isUp: () => boolean;
  readonly close: () => Promise<void>;
};

/** `LISTEN` on a separate connection, as long as the program runs. A lost connection is noticed within 3 seconds. */
export function listenTo({ channels, onNotice, onGap, ...session }: ListenOptions): Listening {
  const begin = async (client: Client): Promise<void> => {
    client.on("notification", ({ channel, payload }) => onNotice(channel, payload ?? ""));
    await client.query(channels.map((channel) => `LISTEN ${client.escapeIdentifier(channel)}`).join("; "));
  };
  return keepSession({ ...session, begin, ready: onGap, what: "notices" });
}
