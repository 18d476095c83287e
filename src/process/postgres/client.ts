import pg from "pg";

/** The class of every connection to PostgreSQL. */
export class PostgresClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    // The pool makes `password` non-enumerable, so the spread does not copy it.
    super({ ...config, password: config.password, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
    // Every stored number fits into a double.
    this.setTypeParser(pg.types.builtins.INT8, Number);
    // Callers notice a lost connection when a query fails, or listen for it. Without a listener, an error event would end the
    // process: a server that is being stopped may send its error in the same packet that accepts the connection.
    this.on("error", () => undefined);
  }

  /**
   * Closes a connection on which signing in failed. The driver leaves that to the server, which takes a minute: until then, the
   * process does not exit, and a node that keeps retrying uses up the server's connections.
   */
  override connect(): Promise<pg.Client>;
  override connect(done: (error: Error | null) => void): void;
  override connect(done?: (error: Error | null) => void): Promise<pg.Client> | undefined {
    if (done === undefined)
      return new Promise((resolve, reject) => this.connect((error) => (error ? reject(error) : resolve(this))));
    super.connect((error: Error | null) => {
      if (error) this.connection.stream.destroy();
      done(error);
    });
    return undefined;
  }
}
