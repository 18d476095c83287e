import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { parseOwner } from "../../core/names/name.ts";
import { createHttpClient } from "../../lib/http-client/client.ts";
import { noZone, readAnswer } from "../../providers/answers/service-answer.ts";
import type { ListedZone } from "../../providers/provider-calls.ts";
import type { TargetConfig } from "../../updater/config/kinds.ts";
import type { RecordTarget, TargetFault } from "../../updater/targets/target.ts";
import type { TokenTarget } from "../../updater/targets/token-target.ts";
import type { CommandIo } from "../io/command-io.ts";

export type NewRecord = {
  readonly zone: ListedZone;
  readonly name: string;
  readonly family: Family;
  readonly value: string;
  readonly config: TargetConfig;
  readonly target: RecordTarget;
  readonly io: CommandIo;
};

/**
 * Creates a record with the zone's TTL through either API. Undefined if the service lists it afterwards. The answer
 * does not count: it can be lost after the write, or report a success that did not happen.
 */
export async function makeRecord(wanted: NewRecord): Promise<TargetFault | undefined> {
  const { config, target, zone, io } = wanted;
  const answered = config.api === "v1" ? await postRecord(wanted, config as TokenTarget) : await createSet(wanted);
  const listed = await target.records(zone.name, io.signal);
  if (listed.kind !== "found") return answered ?? listed;
  const isThere = listed.value.some(({ name, type, value }) => {
    const owner = parseOwner(name, zone.name);
    return owner.ok && owner.value === wanted.name && type === recordTypeOf(wanted.family) && value === wanted.value;
  });
  if (isThere) return undefined;
  const todo = "create it in the console, with any address";
  return (
    answered ?? { kind: "later", because: "the record service reported success, but does not list the record", todo }
  );
}

/** `POST /api/v1/records`, which the updater never uses. */
async function postRecord(
  { zone, name, family, value, io }: NewRecord,
  config: TokenTarget,
): Promise<TargetFault | undefined> {
  const client = await createHttpClient(config);
  try {
    const path = `${/\/api\/v1\/?$/.test(config.url.pathname) ? "" : "/api/v1"}/records`;
    const headers = { "auth-api-token": config.token(), "content-type": "application/json" };
    const body = JSON.stringify({ zone_id: zone.id, type: recordTypeOf(family), name, value });
    const outcome = await client.send({ method: "POST", path, headers, body }, io.signal);
    const answer = readAnswer(outcome, [200, 201], Date.now());
    if (answer.kind === "ok") return undefined;
    return answer.kind === "absent" ? noZone(zone.name) : answer;
  } finally {
    client.close();
  }
}

async function createSet({ target, zone, name, family, value, io }: NewRecord): Promise<TargetFault | undefined> {
  const outcome = await target.replace({ zone: zone.name, name, family, value, create: true }, io.signal);
  return outcome.kind === "done" ? undefined : outcome.fault;
}
