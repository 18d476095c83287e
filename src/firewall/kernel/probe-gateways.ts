import { setTimeout as sleep } from "node:timers/promises";
import { runProgram } from "../../lib/kernel/run-program.ts";

/** A gateway of this machine. */
export type ProbedGateway = { readonly dev: string; readonly gateway: string };

/** What the latest probes say. */
export type GatewayHealth = {
  readonly isDown: boolean;
  /** How many of the latest probes in a row say the opposite of `isDown`. */
  readonly against: number;
};

/** One lost packet says nothing; a line that comes and goes is not back. */
const [lostUntilDown, answersUntilUp] = [3, 5];
const firstHealth: GatewayHealth = { isDown: false, against: 0 };

export function afterProbe({ isDown, against }: GatewayHealth, answered: boolean): GatewayHealth {
  if (answered !== isDown) return { isDown, against: 0 };
  const needed = isDown ? answersUntilUp : lostUntilDown;
  return against + 1 >= needed ? { isDown: !isDown, against: 0 } : { isDown, against: against + 1 };
}

/** Whether the gateway answered; undefined if it could not be asked. */
export type Ping = (gateway: ProbedGateway, signal: AbortSignal) => Promise<boolean | undefined>;

export type ProbeOptions = {
  readonly gateways: () => Promise<readonly ProbedGateway[]>;
  readonly ping?: Ping | undefined;
  /** Starts with each round, which lasts at least as long: a lost packet's second is not followed by another one. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
};

export type GatewayProbe = {
  /** Undefined if it was never asked, or cannot be. */
  readonly healthOf: (gateway: ProbedGateway) => GatewayHealth | undefined;
  /** Resolves after the signal has ended the work. */
  readonly ended: Promise<void>;
};

const keyOf = ({ dev, gateway }: ProbedGateway) => `${dev} ${gateway}`;
/** More than this is not a router of a few lines. */
const mostGateways = 32;

/** Sends an echo request to each gateway, again and again, through its own device. */
export function probeGateways(options: ProbeOptions, signal: AbortSignal): GatewayProbe {
  const { ping = pingOnce, pause = pauseOneSecond } = options;
  let health: ReadonlyMap<string, GatewayHealth> = new Map();
  const round = async () => {
    const gateways = (await options.gateways()).slice(0, mostGateways);
    const probed = await Promise.all(
      gateways.map(async (gateway) => {
        const answered = await ping(gateway, signal);
        const before = health.get(keyOf(gateway)) ?? firstHealth;
        return answered === undefined ? [] : [[keyOf(gateway), afterProbe(before, answered)] as const];
      }),
    );
    health = new Map(probed.flat());
  };
  const run = async () => {
    while (!signal.aborted) {
      const probed = round().catch((error: unknown) => {
        if (!signal.aborted) options.onFailure(error);
      });
      await Promise.all([probed, pause(signal)]);
    }
  };
  return { healthOf: (gateway) => health.get(keyOf(gateway)), ended: run() };
}

const pauseOneSecond = (signal: AbortSignal): Promise<void> =>
  sleep(1_000, undefined, { signal, ref: false }).catch(() => undefined);

async function pingOnce({ dev, gateway }: ProbedGateway, signal: AbortSignal): Promise<boolean | undefined> {
  const args = ["-n", "-q", "-c", "1", "-W", "1", "-I", dev, gateway];
  const end = await runProgram({ file: "ping", args, folder: "/" }, { timeoutMs: 3_000, maxBytes: 10_000 }, signal);
  if (end.kind === "not-started") throw new Error(`the program ping cannot be started (${end.code})`);
  // 1: no answer. Anything else is a fault of `ping` itself, such as a missing right or a device that is gone.
  if (end.kind === "exited") return end.code === 0 ? true : end.code === 1 ? false : undefined;
  return end.kind === "killed" && end.because === "timeout" ? false : undefined;
}
