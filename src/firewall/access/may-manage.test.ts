import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excessOf, type Standing } from "./may-manage.ts";
import { type Privilege, privileges } from "./privileges.ts";

const holds = (...held: Privilege[]): Standing => ({ grants: [{ privileges: held, networks: [] }], expires: "never" });
const from = (networks: string[], ...held: Privilege[]): Standing => ({
  ...holds(),
  grants: [{ privileges: held, networks }],
});
const until = (day: string, standing: Standing): Standing => ({ ...standing, expires: new Date(day) });
const off = (standing: Standing): Standing => ({ ...standing, disabled: true });
const group = ({ grants }: Standing): Standing => ({ grants });

const manager = holds("user-management", "traffic");
const everyButAll = holds(...privileges.filter((each) => each !== "all"));
const lan = ["192.0.2.0/24", "2001:db8::/32"];

type Row = [string, Standing, { before?: Standing; after?: Standing }, Privilege[] | "expiry" | "fine"];

describe("nobody manages more than they have", () => {
  it.each<Row>([
    ["add what they have", manager, { after: holds("traffic") }, "fine"],
    ["add something that has nothing", manager, { after: holds() }, "fine"],
    ["add more", manager, { after: holds("traffic", "overview") }, ["overview"]],
    ["add everything", manager, { after: holds("all") }, ["all"]],
    ["with everything, add everything", holds("all"), { after: holds("all") }, "fine"],
    ["with everything, add one thing", holds("all"), { after: holds("gateways") }, "fine"],
    ["with every single one but not all, add all", everyButAll, { after: holds("all") }, ["all"]],
    ["raise one who has less", manager, { before: holds(), after: holds("overview") }, ["overview"]],
    ["lower one who has more", manager, { before: holds("all"), after: holds() }, ["all"]],
    ["leave one who has more as they are", manager, { before: holds("all"), after: holds("all") }, ["all"]],
    ["disable one who has more", manager, { before: holds("all"), after: off(holds("all")) }, ["all"]],
    ["enable one who has more", manager, { before: off(holds("all")), after: holds("all") }, ["all"]],
    ["remove one who has more", manager, { before: holds("overview") }, ["overview"]],
    ["remove one who has as much", manager, { before: holds("traffic") }, "fine"],
    ["with nothing, remove nothing", holds(), { before: holds() }, "fine"],

    ["from the LAN only, give it everywhere", from(lan, "all"), { after: holds("overview") }, ["overview"]],
    ["from the LAN only, widen the LAN", from(lan, "all"), { after: group(from(["192.0.0.0/16"], "all")) }, ["all"]],
    [
      "from the LAN only, open it to all",
      from(lan, "all"),
      { before: group(from(lan, "all")), after: group(holds("all")) },
      ["all"],
    ],
    ["from the LAN only, give part of the LAN", from(lan, "all"), { after: group(from(["192.0.2.7"], "all")) }, "fine"],
    ["from the LAN only, give both families", from(lan, "all"), { after: group(from(lan, "all")) }, "fine"],
    [
      "from the LAN only, and one more network",
      from(lan, "all"),
      { after: group(from([...lan, "198.51.100.0/24"], "all")) },
      ["all"],
    ],
    ["an invalid network matches nobody", from(lan, "all"), { after: group(from(["nonsense"], "all")) }, "fine"],
    ["from an invalid network", from(["nonsense"], "all"), { after: group(from(lan, "all")) }, ["all"]],
    ["from everywhere, give the LAN", holds("all"), { after: group(from(lan, "all")) }, "fine"],

    ["add one who is valid longer", until("2027-01-31", manager), { after: manager }, "expiry"],
    ["add one who is valid as long", until("2027-01-31", manager), { after: until("2027-01-31", manager) }, "fine"],
    [
      "extend their own expiry",
      until("2027-01-31", manager),
      { before: until("2027-01-31", manager), after: until("2027-02-01", manager) },
      "expiry",
    ],
    [
      "change one who is valid longer",
      until("2027-01-31", manager),
      { before: manager, after: holds("traffic") },
      "fine",
    ],
    [
      "shorten one who is valid longer",
      until("2027-01-31", manager),
      { before: manager, after: until("2028-01-01", manager) },
      "fine",
    ],
    ["disable one who is valid longer", until("2027-01-31", manager), { before: manager, after: off(manager) }, "fine"],
    [
      "enable one who is valid longer",
      until("2027-01-31", manager),
      { before: off(manager), after: manager },
      "expiry",
    ],
    [
      "give more to one who is valid longer",
      until("2027-01-31", manager),
      { before: holds(), after: manager },
      "expiry",
    ],
    [
      "widen what one who is valid longer has",
      until("2027-01-31", manager),
      { before: from(lan, "traffic"), after: holds("traffic") },
      "expiry",
    ],
    [
      "give more to one who expires sooner",
      until("2027-01-31", manager),
      { before: until("2027-01-01", holds()), after: until("2027-01-01", manager) },
      "fine",
    ],
    ["add a group, which never expires", until("2027-01-31", manager), { after: group(manager) }, "fine"],
    ["without expiry, add one without expiry", manager, { after: manager }, "fine"],
  ])("%s", (_, actor, wish, expected) => {
    const excess = excessOf(actor, wish);
    expect(excess?.kind === "privileges" ? excess.lacking : (excess?.kind ?? "fine")).toEqual(expected);
  });

  const network = fc.constantFrom("192.0.2.0/24", "192.0.2.0/25", "198.51.100.7", "2001:db8::/32", "::/0");
  const standing: fc.Arbitrary<Standing> = fc.record({
    grants: fc.array(
      fc.record({ privileges: fc.subarray([...privileges]), networks: fc.subarray(["192.0.2.0/25", "::/0"]) }),
      { maxLength: 3 },
    ),
    expires: fc.oneof(fc.constant("never" as const), fc.date({ noInvalidDate: true })),
  });

  it("allowed changes make nobody more powerful: no sequence of steps exceeds the first actor", () => {
    fc.assert(
      fc.property(standing, standing, standing, (a, b, c) => {
        const canMake = (actor: Standing, made: Standing) => excessOf(actor, { after: made }) === undefined;
        expect(!canMake(a, b) || !canMake(b, c) || canMake(a, c)).toBe(true);
      }),
    );
  });

  it("everybody can create their equal, and can do less with fewer privileges", () => {
    fc.assert(
      fc.property(standing, network, (actor, only) => {
        expect(excessOf(actor, { after: actor })).toBeUndefined();
        const less = actor.grants.map(({ privileges: held, networks }) => ({
          privileges: held.slice(1),
          networks: networks.length === 0 ? [only] : networks,
        }));
        expect(excessOf(actor, { after: { ...actor, grants: less } })).toBeUndefined();
      }),
    );
  });
});
