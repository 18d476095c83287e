import { plainType, type TypeDefinition } from "../fields/field.ts";
import { exactName } from "../fields/name.ts";
import { u16 } from "../fields/number.ts";
import { characterString } from "../fields/text.ts";

const oneName = plainType("host.example.org.", ["name", exactName]);
const expandedName = { ...oneName, names: "expanded" } satisfies TypeDefinition;
const preferred = plainType("10 host.example.org.", ["preference", u16], ["host", exactName]);
const expandedPreferred = { ...preferred, names: "expanded" } satisfies TypeDefinition;
/** RFC 1035 section 3.3.4. BIND refuses a zone with one. */
const obsolete = { ...oneName, check: () => "MX records replace it" } satisfies TypeDefinition;

/** Types that are a name, or end with one. */
export const nameTypes = {
  MD: obsolete,
  MF: obsolete,
  MB: expandedName,
  MG: expandedName,
  MR: expandedName,
  MINFO: {
    ...plainType("admin.example.org. errors.example.org.", ["mailbox", exactName], ["errors", exactName]),
    names: "expanded",
  },
  AFSDB: expandedPreferred,
  RT: expandedPreferred,
  "NSAP-PTR": oneName,
  /** RFC 3403 section 4. */
  NAPTR: {
    ...plainType(
      '100 10 "S" "SIP+D2U" "" _sip._udp.example.org.',
      ["order", u16],
      ["preference", u16],
      ["flags", characterString],
      ["services", characterString],
      ["pattern", characterString],
      ["replacement", exactName],
    ),
    names: "expanded",
  },
  KX: { ...preferred, names: "lowered" },
  DNAME: { ...plainType("other.example.org.", ["target", exactName]), names: "expanded" },
  LP: preferred,
} satisfies Record<string, TypeDefinition>;
