import type { Fault } from "../../../core/result.ts";
import type { NotCreated } from "../../store/port.ts";

/** Reveals only that another account's zone exists, neither its owner nor its name. */
export function zoneNotCreated(name: string, why: NotCreated): Fault {
  const fault = (code: string, message: string, todo: string): Fault => ({ code, where: "name", message, todo });
  switch (why) {
    case "name-taken":
      return fault("zone-taken", `the zone ${name} already exists`, "use the existing zone, or delete it first");
    case "inside-foreign-zone":
      return fault("zone-not-granted", `${name} is inside a zone of another account`, askOwner);
    case "above-foreign-zone":
      return fault("zone-not-granted", `a zone of another account is below ${name}`, askOwner);
    case "public-suffix":
      return fault("name-reserved", `${name} is a public suffix: many owners have names below it`, askOperator);
    case "name-server":
      return fault("name-reserved", `${name} is reserved for the nameservers of this service`, askOperator);
    case "service-name":
      return fault("name-reserved", `${name} is reserved for the name of this service`, askOperator);
    default:
      return why satisfies never;
  }
}

const askOwner = "ask its owner to grant you the name, or the operator to allow it";
const askOperator = "use another name, or ask the operator to allow this one";
