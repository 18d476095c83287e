import pg from "pg";

/** A connection to a database, as everything in moor has it. */
export class PostgresClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    // A pool hides the password from what copies its config.
    super({ ...config, password: config.password, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
    // Every number that is kept fits into a double.
    this.setTypeParser(pg.types.builtins.INT8, Number);
    // Users notice a lost connection by their query, or listen for it. Without a listener, an error event would end the program:
    // a server that is stopped may say it in the packet that lets the connection in.
    this.on("error", () => undefined);
  }

  /**
   * Ends a connection that it could not sign in on. The driver leaves it to the server, which takes a minute: until then the
   * program does not end, and a node that tries again and again leaves none for anybody else.
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
