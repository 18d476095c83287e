import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hostName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";
import { svcParams } from "../fields/svc-params.ts";

/** RFC 9460 section 2. Priority 0 is an alias; its parameters, if any, are ignored by clients (section 2.4.2). */
export const svcb = {
  fields: fieldRows(["priority", u16], ["target", hostName], ["params", svcParams]),
  todo: "an SVCB record takes priority, target and parameters, such as 1 svc.example.org. alpn=h2,h3 port=8443",
} satisfies TypeDefinition;

/** RFC 9460 section 9: SVCB for the scheme https. */
export const https = {
  fields: svcb.fields,
  todo: "an HTTPS record takes priority, target and parameters, such as 1 . alpn=h2,h3 ipv4hint=192.0.2.1",
} satisfies TypeDefinition;
