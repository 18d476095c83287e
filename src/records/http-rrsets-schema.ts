import { Type } from "typebox";
import { RrsetsError } from "../contract/rrsets.ts";

/** What the routes of the record-set API have in common, for the OpenAPI document. */
export const zoneParams = Type.Object({ z: Type.String({ description: "a zone's id or name" }) });

export const setParams = Type.Object({
  z: Type.String({ description: "a zone's id or name" }),
  n: Type.String({ description: "the name of the set, relative to the zone" }),
  t: Type.String({ description: "its type" }),
});

export const errors = { "4xx": RrsetsError };
