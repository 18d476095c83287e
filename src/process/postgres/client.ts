import pg from "pg";
import { afterAwake } from "../after-awake.ts";

/** A connection to a database, as everything in moor has it. */
export class PostgresClient extends pg.Client {
  readonly #patience: number;

  constructor(config: pg.ClientConfig = {}) {
    const { connectionTimeoutMillis: patience = 0, ...others } = config;
    // A pool hides the password from what copies its config.
    super({ ...others, password: config.password, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
    this.#patience = patience;
    // Every number that is kept fits into a double.
    this.setTypeParser(pg.types.builtins.INT8, Number);
    // Whoever uses it hears of its end by what it runs, or listens for it. An end that nobody listens for would end the program:
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
    const callOff = this.#giveUpInTime();
    super.connect((error: Error | null) => {
      callOff();
      if (error) this.connection.stream.destroy();
      done(error);
    });
    return undefined;
  }

  /** The driver's own limit would take a server for silent whose answer has come while this process stood still. */
  #giveUpInTime(): () => void {
    if (this.#patience === 0) return () => undefined;
    const giveUp = () => this.connection.stream.destroy(new Error("timeout expired"));
    return afterAwake(this.#patience, giveUp, { ref: false });
  }
}
