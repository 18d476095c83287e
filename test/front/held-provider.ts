import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy before a provider, which can hold back writes: they reach it when they are let through. */
export class HeldProvider {
  readonly #server;
  #released = Promise.resolve();
  #release = () => {};
  /** Writes that have arrived here. */
  arrived = 0;

  constructor(urlOf: () => string) {
    this.#server = createServer((asked, reply) => {
      const { method = "", url = "", headers } = asked;
      const pass = () => {
        const passed = request(new URL(url, urlOf()), { method, headers }, (answer) => {
          reply.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(reply);
        });
        asked.pipe(passed.on("error", () => reply.destroy()));
      };
      if (method === "GET") return pass();
      this.arrived += 1;
      void this.#released.then(pass);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  hold(): void {
    this.arrived = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#released, this.#release] = [promise, resolve];
  }

  letThrough(): void {
    this.#release();
  }

  close(): void {
    this.letThrough();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
