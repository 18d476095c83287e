import type { TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";
import { svcParams } from "../fields/svc-params.ts";

/** RFC 9460 section 2. Priority 0 is an alias; its parameters, if any, are ignored by clients (section 2.4.2). */
export const svcb = {
  code: 64,
  fields: [
    { name: "priority", kind: u16 },
    { name: "target", kind: hostName },
    { name: "params", kind: svcParams },
  ],
  isSignedAsWritten: true,
  todo: "an SVCB record takes priority, target and parameters, such as 1 svc.example.org. alpn=h2,h3 port=8443",
} satisfies TypeDefinition;
