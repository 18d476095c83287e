import { createSocket } from "node:dgram";

/**
 * The baseline: the least that a Node program can do for a UDP packet is to send it back. `node bench/dns/bare.ts PORT`
 */
const socket = createSocket("udp4");
socket.on("message", (message, client) => {
  message[2] = (message[2] ?? 0) | 0x80;
  socket.send(message, client.port, client.address);
});
socket.bind(Number(process.argv[2]), "127.0.0.1", () => console.log("listens"));
