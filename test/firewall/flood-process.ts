import { readFileSync } from "node:fs";
import { connect } from "node:tls";

/**
 * Many connections, each sending wrong keys one after the other, forever. Prints the number of refusals after every
 * hundred. `node test/firewall/flood-process.ts PORT CA-FILE CONNECTIONS`
 */
const [port, caFile = "", connections] = process.argv.slice(2);
const ca = readFileSync(caFile);
let refused = 0;

function guess(nth: number): void {
  const socket = connect({ host: "127.0.0.1", port: Number(port), ca, servername: "localhost" });
  const send = () => {
    const basic = Buffer.from(`guess${nth}-${refused}:wrong`).toString("base64");
    const path = "/api/diagnostics/interface/getinterfaceconfig";
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${basic}\r\n\r\n`);
  };
  socket.on("secureConnect", send);
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    const answers = chunk.toString("latin1").split("HTTP/1.1 401").length - 1;
    for (let count = 0; count < answers; count++) {
      refused += 1;
      if (refused % 100 === 0) console.log(refused);
      send();
    }
  });
}

for (let nth = 0; nth < Number(connections); nth++) guess(nth);
