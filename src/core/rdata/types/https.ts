import type { TypeDefinition } from "../fields/field.ts";
import { svcb } from "./svcb.ts";

/** RFC 9460 section 9: SVCB for the scheme https. */
export const https = {
  code: 65,
  fields: svcb.fields,
  isSignedAsWritten: true,
  todo: "an HTTPS record takes priority, target and parameters, such as 1 . alpn=h2,h3 ipv4hint=192.0.2.1",
} satisfies TypeDefinition;
