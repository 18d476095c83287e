/**
 * Runs inside the namespace, between the updater and the services. It counts requests and can answer in place of a
 * service.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Asked, GateOrder, GateReply, Rule } from "./gate.ts";

type Door = { readonly upstream: string; rule: Rule; readonly asked: Asked[] };

const dataFolder = process.argv[2] ?? "";
const read = (name: string) => readFileSync(`${dataFolder}/${name}`, "utf8");
const agent = new Agent({ ca: read("ca.pem"), keepAlive: false });
const doors = new Map<string, Door>();

process.on("message", (order: GateOrder) => {
  void obey(order).then((reply) => process.send?.({ ...reply, number: order.number }));
});

async function obey(order: GateOrder): Promise<GateReply> {
  if (order.kind === "open") return { port: await open(order.door, order.upstream) };
  const door = doors.get(order.door);
  if (order.kind === "rule" && door) door.rule = order.rule;
  return { asked: door?.asked ?? [] };
}

async function open(name: string, upstream: string): Promise<number> {
  const door: Door = { upstream, rule: { kind: "pass" }, asked: [] };
  doors.set(name, door);
  const server = createServer({ cert: read("server.pem"), key: read("server.key") }, (question, answer) => {
    void handle(door, question, answer).catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function handle(door: Door, question: IncomingMessage, answer: ServerResponse): Promise<void> {
  const sent = await buffer(question);
  const { method = "", url = "" } = question;
  const asked: Asked = { method, path: url, body: sent.toString(), at: Date.now() };
  door.asked.push(asked);
  const { rule } = door;
  if (answerAsTold(door, rule, asked, answer)) return;
  const reply = await forward(door, question, sent);
  asked.status = reply.statusCode ?? 0;
  const body = await buffer(reply);
  // A rule may have arrived while the request was read.
  if (method === "GET" && answerAsTold(door, door.rule, asked, answer)) return;
  // The answer is dropped: the service has done the write, but the updater never learns of it.
  if (rule.kind === "hold" && method === "PUT") return;
  answer.writeHead(asked.status, reply.headers);
  answer.end(body);
}

function answerAsTold(door: Door, rule: Rule, asked: Asked, answer: ServerResponse): boolean {
  if (rule.kind !== "answer" || (rule.only ?? asked.method) !== asked.method) return false;
  if (rule.once) door.rule = { kind: "pass" };
  asked.status = rule.status;
  answer.writeHead(rule.status, { "content-type": rule.type ?? "application/json", ...rule.headers });
  answer.end(rule.body);
  return true;
}

function forward({ upstream }: Door, { method, url, headers }: IncomingMessage, sent: Buffer) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const own = { ...headers, connection: "close" };
    request(`${upstream}${url}`, { method: method ?? "GET", headers: own, agent }, resolve)
      .once("error", reject)
      .end(sent);
  });
}
