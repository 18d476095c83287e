import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";

/**
 * The baseline: the least that a Node server can do for a JSON answer. `node bench/records/hello.ts PORT [DATA FOLDER]`
 */
const [port, folder] = process.argv.slice(2);
const body = JSON.stringify({ hello: "world" });
const answer = (_: unknown, response: import("node:http").ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
};
const server =
  folder === undefined
    ? createServer(answer)
    : createTlsServer(
        { cert: readFileSync(`${folder}/server.pem`), key: readFileSync(`${folder}/server.key`) },
        answer,
      );
server.listen(Number(port), "127.0.0.1", () => console.log("listens"));
