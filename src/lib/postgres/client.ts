import pg from "pg";

/** `target_session_attrs` of libpq, as far as it makes sense for a program that writes. */
export type SessionKind = "any" | "read-write" | "primary";

export type ServerCheck = {
  /** What the server must be. */
  readonly session: SessionKind;
  /** Called when there is no connection to this server, or it is not such a server. */
  readonly failed: () => void;
  /** Called with each new client. */
  readonly opened?: (client: pg.Client) => void;
};

const checks = {
  "read-write": "SELECT current_setting('transaction_read_only') = 'off' AS ok",
  primary: "SELECT NOT pg_is_in_recovery() AS ok",
} as const;

/** The class of every connection to PostgreSQL. */
export class PostgresClient extends pg.Client {
  readonly #check: ServerCheck;

  constructor(config: pg.ClientConfig = {}, check: ServerCheck = { session: "any", failed: () => undefined }) {
    // The pool makes `password` non-enumerable, so the spread does not copy it.
    super({ ...config, password: config.password, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
    // Every stored number fits into a double.
    this.setTypeParser(pg.types.builtins.INT8, Number);
    // Callers notice a lost connection when a query fails, or listen for it. Without a listener, an error event would
    // end the process: a server that is being stopped may send its error in the same packet that accepts the
    // connection.
    this.on("error", () => undefined);
    this.#check = check;
    check.opened?.(this);
  }

  /**
   * Closes a connection on which signing in failed. The driver leaves that to the server, which takes a minute: until
   * then, the process does not exit, and a node that keeps retrying uses up the server's connections.
   */
  override connect(): Promise<pg.Client>;
  override connect(done: (error: Error | null) => void): void;
  override connect(done?: (error: Error | null) => void): Promise<pg.Client> | undefined {
    if (done === undefined)
      return new Promise((resolve, reject) => this.connect((error) => (error ? reject(error) : resolve(this))));
    const end = (error: Error | null) => {
      if (error) {
        this.connection.stream.destroy();
        this.#check.failed();
      }
      done(error);
    };
    super.connect((error: Error | null) => {
      if (error) end(error);
      else this.#checkServer().then(() => end(null), end);
    });
    return undefined;
  }

  async #checkServer(): Promise<void> {
    const { session } = this.#check;
    if (session === "any") return;
    const { rows } = await this.query<{ ok: boolean }>(checks[session]);
    if (rows[0]?.ok) return;
    const error = new Error(
      `the server ${this.host}:${this.port} is not what target_session_attrs=${session} asks for`,
    );
    // Like a server that is down: another one may have taken over.
    throw Object.assign(error, { code: "EWRONGSERVER" });
  }
}
