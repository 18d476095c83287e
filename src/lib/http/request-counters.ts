import { type IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { createHistogram, type Histogram, observe } from "../../process/metrics.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Where requests of the route are counted. */
    counter?: RouteCounter;
  }
}

/** The requests of one route. `route` is its pattern, never a requested path: clients could request any number of paths. */
export type RouteCounter = {
  readonly method: string;
  readonly route: string;
  /** In the order of `statuses`. */
  readonly answers: Float64Array;
  readonly seconds: Histogram;
};

export type RequestCounters = {
  /** Replaces the response class of Node's server: it measures the time to the answer and counts its status. */
  readonly Response: typeof ServerResponse;
  /** Counts requests per route of this server. Call this before any route is added. */
  readonly follow: (server: FastifyInstance) => void;
  /** Routes with at least one answer. */
  readonly routes: () => readonly CountedRoute[];
};

export type CountedRoute = {
  readonly method: string;
  readonly route: string;
  readonly answers: readonly { readonly status: number; readonly count: number }[];
  readonly seconds: Histogram;
};

/** Seconds. */
const bounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** More than any service uses; all further statuses count as the last one. */
const mostStatuses = 32;

export function createRequestCounters(): RequestCounters {
  /** By status: its index in `statuses` plus one; 0 if it is not there yet. */
  const places = new Uint8Array(1_000);
  const statuses: number[] = [];
  const known = new Map<string, RouteCounter>();

  const counterOf = (method: string, route: string): RouteCounter => {
    const name = `${method} ${route}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    const answers = new Float64Array(mostStatuses);
    const counter = { method, route, answers, seconds: createHistogram(bounds) };
    known.set(name, counter);
    return counter;
  };
  const unrouted = counterOf("", "none");

  const newPlace = (status: number): number => {
    if (statuses.length < mostStatuses) statuses.push(status);
    places[status] = statuses.length;
    return statuses.length;
  };

  const count = ({ answers, seconds }: RouteCounter, begun: number, status: number): void => {
    const place = (places[status] || newPlace(status)) - 1;
    answers[place] = (answers[place] as number) + 1;
    observe(seconds, (performance.now() - begun) / 1_000);
  };

  class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    readonly begun = performance.now();
    counter: RouteCounter = unrouted;

    override writeHead(status: number, ...rest: never[]): this {
      count(this.counter, this.begun, status);
      return super.writeHead(status, ...rest);
    }
  }

  return {
    Response: CountedResponse,
    follow: (server) => {
      server.addHook("onRoute", (route) => {
        const method = Array.isArray(route.method) ? "ANY" : route.method;
        route.config = { ...route.config, counter: counterOf(method, route.url) };
      });
      server.addHook("onRequest", (request, reply, done) => {
        const { counter } = request.routeOptions.config;
        if (counter !== undefined) (reply.raw as { counter?: RouteCounter }).counter = counter;
        done();
      });
    },
    routes: () =>
      [...known.values()].flatMap(({ method, route, answers, seconds }) => {
        const counted = statuses.flatMap((status, i) => {
          const count = answers[i] ?? 0;
          return count > 0 ? [{ status, count }] : [];
        });
        return counted.length > 0 ? [{ method, route, answers: counted, seconds }] : [];
      }),
  };
}
