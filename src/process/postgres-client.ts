import pg from "pg";

/**
 * Ends a connection that it could not sign in on. The driver leaves it to the server, which takes a minute: until then the
 * program does not end, and a node that tries again and again leaves none for anybody else.
 */
export class PostgresClient extends pg.Client {
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
