import { join } from "node:path";
import { type Namespace, node } from "./namespace.ts";

/** A process in front of the services that counts every request and can answer in their place. */
export type Gate = { open(name: string, upstream: string): Promise<Door> };

/** One route through the gate, with a separate URL per test, so that requests of other tests are not counted. */
export type Door = {
  readonly url: string;
  obey(rule: Rule): Promise<void>;
  asked(): Promise<readonly Asked[]>;
  writes(): Promise<readonly Write[]>;
};

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly at: number;
  /** The status of the answer, from the service or scripted. */
  status?: number;
};

export type Write = { readonly value: string; readonly type: string; readonly status: number };

export type Rule =
  | { readonly kind: "pass" }
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body: string;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Requests with other methods pass. */
      readonly only?: "PUT";
      /** Only the first matching request is answered this way; later ones pass. */
      readonly once?: true;
    }
  /** A PUT is forwarded, but its answer is dropped. */
  | { readonly kind: "hold" };

export type GateOrder = { readonly number: number; readonly door: string } & (
  | { readonly kind: "open"; readonly upstream: string }
  | { readonly kind: "rule"; readonly rule: Rule }
  | { readonly kind: "asked" }
);
export type GateReply = { readonly port?: number; readonly asked?: readonly Asked[] };

export function startGate(inside: Namespace, dataFolder: string): Gate {
  const { child } = inside.start([node, join(import.meta.dirname, "gate-process.ts"), dataFolder], { channel: true });
  const waiting = new Map<number, (reply: GateReply) => void>();
  child.on("message", (reply: GateReply & { readonly number: number }) => {
    waiting.get(reply.number)?.(reply);
    waiting.delete(reply.number);
  });
  let last = 0;
  const order = (what: Unnumbered<GateOrder>): Promise<GateReply> => {
    const number = ++last;
    return new Promise((resolve, reject) => {
      waiting.set(number, resolve);
      child.send({ ...what, number }, (error) => error && reject(error));
    });
  };
  return {
    async open(name, upstream) {
      const { port } = await order({ kind: "open", door: name, upstream });
      const asked = async () => (await order({ kind: "asked", door: name })).asked ?? [];
      return {
        url: `https://127.0.0.1:${port}`,
        obey: async (rule) => void (await order({ kind: "rule", door: name, rule })),
        asked,
        writes: async () => (await asked()).filter(({ method }) => method !== "GET").map(asWrite),
      };
    },
  };
}

type Unnumbered<T> = T extends { readonly number: number } ? Omit<T, "number"> : never;

function asWrite({ method, body, status = 0 }: Asked): Write {
  if (method !== "PUT") throw new Error(`the updater sent a ${method}`);
  const { value, type } = JSON.parse(body) as { value: string; type: string };
  return { value, type, status };
}
